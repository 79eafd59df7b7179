"""The predictor's pod: its written form, its runtime, and the merge of both.

spec/kserve-runtimes.md 2, 6 and 8. A custom predictor has no runtime; everything else is a
`model`, also a framework key that admission has not rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api import gotemplate
from ingressctl.api.inferenceservices import FRAMEWORKS, InferenceService
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.values import Value
from ingressctl.core.world import Reads
from ingressctl.sources.kserve.components import (
    images,
    merging,
    placeholders,
    pods,
    runtimes,
    server_types,
)
from ingressctl.sources.kserve.components.faults import (
    ComponentFault,
    ModelFault,
    PanicFault,
    unservable,
)
from ingressctl.sources.kserve.components.pods import COLLOCATED, ISVC_NAME, MAIN, Pod

V2_FRAMEWORKS = frozenset({"triton", "onnx", "huggingface"})
NOT_OF_CONTAINER = frozenset(
    (
        "modelFormat runtime runtimeVersion protocolVersion storageUri storage confidential args"
    ).split()
)


class Selected(Value, frozen=True):
    """A predictor with its choice made. `written` is its spec with a key as `model`;
    `effects` is None for a custom predictor."""

    written: Raw
    choice: runtimes.Choice | None = None
    effects: server_types.Effects | None = None

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that routes get."""
        return self.effects.labels if self.effects else {}


def as_model(predictor: Raw) -> Raw:
    """The predictor with its framework key rewritten to `model`, as admission does it."""
    if predictor.get("model") is not None:
        return predictor
    key = next((name for name in FRAMEWORKS if predictor.get(name) is not None), "")
    if not key:
        return predictor
    model = {"modelFormat": {"name": key}, **predictor[key]}
    if key in V2_FRAMEWORKS:
        model.setdefault("protocolVersion", "v2")
    rest = {name: value for name, value in predictor.items() if name != key}
    return {**rest, "model": model}


def wanted(predictor: Raw) -> runtimes.Wanted:
    """What the predictor's `model` asks of a runtime."""
    model = predictor["model"]
    form = model.get("modelFormat") or {}
    version = form.get("version")
    return runtimes.Wanted(
        str(form.get("name") or ""),
        None if version is None else str(version),
        model.get("protocolVersion"),
        predictor.get("workerSpec") is not None,
    )


def select(
    predictor: Raw,
    service: InferenceService,
    *,
    reads: Reads,
    serving: Ref | None = None,
    container: bool = True,
) -> Selected:
    """Choose the runtime of a predictor in written form. Raises ComponentFault."""
    if predictor.get("model") is None:
        return Selected(predictor)
    model = predictor["model"]
    asked = wanted(predictor)
    choice = runtimes.choose(
        asked,
        name=model.get("runtime"),
        service=service.ref,
        serving=serving,
        reads=reads,
    )
    if asked.workers and not choice.serves.workers:
        raise _workers_missing(reads)
    effects = server_types.effects(model, choice.named, service=service.name, container=container)
    return Selected(predictor, choice, effects)


def _workers_missing(reads: Reads) -> ComponentFault:
    if not reads.differs("R12"):
        return PanicFault()
    text = "workerSpec needs a runtime with workerSpec: the chosen one has none"
    return ModelFault(text, "InvalidWorkerSpecNotSet", text)


def pod(selected: Selected, service: InferenceService, *, reads: Reads) -> Pod:
    """The pod of a selected predictor. Raises ComponentFault."""
    if selected.choice is None or selected.effects is None:
        return _custom(selected.written, service, reads)
    return _served(selected.written, selected.choice, selected.effects, service, reads)


def _custom(predictor: Raw, service: InferenceService, reads: Reads) -> Pod:
    containers = _in_place(tuple(predictor.get("containers") or ()), reads)
    named = (pods.with_variable(item, ISVC_NAME, service.name) for item in containers)
    return Pod(tuple(named), pods.fields_of(predictor))


def _in_place(containers: tuple[Raw, ...], reads: Reads) -> tuple[Raw, ...]:
    """KServe copies kserve-container over the first place, wherever it was (R8)."""
    if not containers:
        raise ComponentFault("the predictor has no implementation: give it a model or containers")
    main = pods.find(containers, MAIN)
    if main is None and len(containers) == 1:
        return ({**containers[0], "name": MAIN},)
    if main is None and reads.differs("R9"):
        raise ComponentFault(f"one of the predictor's containers must be named {MAIN}")
    if main is None:
        raise PanicFault
    if main is containers[0] or reads.differs("R8"):
        return containers
    return (main, *containers[1:])


def _served(
    predictor: Raw,
    choice: runtimes.Choice,
    effects: server_types.Effects,
    service: InferenceService,
    reads: Reads,
) -> Pod:
    runtime = choice.serves
    theirs = tuple(runtime.spec.get("containers") or ())
    if not theirs:
        raise unservable("no container configuration found in selected serving runtime")
    base = pods.find(theirs, MAIN)
    if base is None:
        raise unservable(f"failed to find {MAIN} in ServingRuntime containers")
    filling = _Filling(service, runtime, effects.labels, reads)
    main = _tagged(filling.fill(_merged(base, effects.model)), effects.model, choice, reads)
    ours = tuple(predictor.get("containers") or ())
    containers = (main, *_collocated(theirs, ours, filling), *_others(theirs, ours))
    named = (pods.with_variable(item, ISVC_NAME, service.name) for item in containers)
    return Pod(
        tuple(named),
        _pod_fields(runtime.spec, predictor),
        runtime.spec.get("labels") or {},
        runtime.spec.get("annotations") or {},
    )


def _merged(base: Raw, model: Raw) -> Raw:
    """The runtime's container with the container fields of `model` over it."""
    own = {key: value for key, value in model.items() if key not in NOT_OF_CONTAINER}
    if model.get("args"):
        own["args"] = model["args"]
    return merging.container(base, own)


def _tagged(container: Raw, model: Raw, choice: runtimes.Choice, reads: Reads) -> Raw:
    return images.tagged(
        container,
        version=str(model.get("runtimeVersion") or ""),
        server_type=server_types.server_type(choice.named),
        own=bool(model.get("image")) and reads.differs("W8"),
    )


def _collocated(
    theirs: tuple[Raw, ...], ours: tuple[Raw, ...], filling: _Filling
) -> tuple[Raw, ...]:
    base, patch = pods.find(theirs, COLLOCATED), pods.find(ours, COLLOCATED)
    if base is None and patch is None:
        return ()
    return (filling.fill(merging.container(base or {}, patch or {})),)


def _others(theirs: tuple[Raw, ...], ours: tuple[Raw, ...]) -> tuple[Raw, ...]:
    return tuple(item for item in (*theirs, *ours) if item.get("name") not in (MAIN, COLLOCATED))


def _pod_fields(runtime: Raw, predictor: Raw) -> Mapping[str, Any]:
    base = {key: runtime[key] for key in pods.RUNTIME_POD_FIELDS if runtime.get(key)}
    own = pods.fields_of(predictor)
    return merging.strategic(base, own) if base else own


class _Filling(Value, frozen=True):
    """Fills placeholders with the service's metadata, its runtime's label included."""

    service: InferenceService
    runtime: runtimes.Runtime
    labels: Mapping[str, str]
    reads: Reads

    def fill(self, container: Raw) -> Raw:
        service = self.service
        values: placeholders.Values = {
            "Name": service.name,
            "Namespace": service.namespace,
            "Labels": {**service.labels, **self.labels},
            "Annotations": service.annotations,
        }
        try:
            return placeholders.fill(container, values, each=self.reads.differs("W7"))
        except (gotemplate.TemplateError, ValueError) as error:
            text = (
                f"failed to replace placeholders in serving runtime {self.runtime.ref.name} "
                f"Container {container.get('name')}"
            )
            raise unservable(f"{text}: {error}", message=text) from None
