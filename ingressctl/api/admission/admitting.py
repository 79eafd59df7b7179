"""What an API server with our webhook does with an object: fill in, then judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingressctl.api import inferencegraphs
from ingressctl.api.admission import graphs, schema
from ingressctl.api.admission.defaulting import default
from ingressctl.api.admission.forms import implementations
from ingressctl.api.admission.refusals import Differs, Operation, Refusal
from ingressctl.api.admission.validation import validate
from ingressctl.api.models.inferencegraphs import InferenceGraph
from ingressctl.api.models.inferenceservices import InferenceService
from ingressctl.api.refs import Raw

_PANIC = "panic: runtime error: index out of range [0] with length 0 [recovered]"


@dataclass(frozen=True, slots=True)
class Admitted:
    """The object as it is stored, if there are no refusals."""

    stored: Raw
    refusals: tuple[Refusal, ...]
    warnings: tuple[Refusal, ...] = ()
    """What is stored all the same and should be known."""


def admit(
    new: Raw,
    *,
    old: Raw | None = None,
    operation: Operation,
    config: Mapping[str, str],
    differs: Differs,
    peers: Iterable[Raw] = (),
) -> Admitted:
    """Defaulting, then validation, with the arguments of `default` and `validate`.

    Raises configmaps.ConfigFault when a key of the configuration cannot be used.
    """
    if new.get("kind") == "InferenceGraph" and operation != "delete":
        _, faults = schema.parse(InferenceGraph, new)
        if faults:
            return Admitted(new, faults)
    if new.get("kind") != "InferenceService" or operation == "delete":
        stored = new
    else:
        if not differs("Q51") and _is_empty(new):
            return Admitted(new, (Refusal(_PANIC, "spec.predictor", "write an implementation"),))
        stored = default(new, config=config, differs=differs, old=old)
    faults = validate(
        stored, old=old, operation=operation, config=config, differs=differs, peers=peers
    )
    return Admitted(stored, faults, () if faults else _warnings(stored, differs))


def _warnings(stored: Raw, differs: Differs) -> tuple[Refusal, ...]:
    if stored.get("kind") != "InferenceGraph":
        return ()
    spec = inferencegraphs.loose(stored)
    return () if spec is None else tuple(graphs.warnings(spec, differs=differs))


def _is_empty(new: Raw) -> bool:
    """Q51: the reference's defaulting panics before its validator can speak."""
    service, _ = schema.parse(InferenceService, new)
    return service is not None and implementations(service.spec.predictor) == 0
