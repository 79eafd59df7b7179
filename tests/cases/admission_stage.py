"""Stages about admission: `validate`, `default`, `admit-runtime`, and what `select` stores.

Documents are admitted in the order in which they are written, each against those before
it, as an API server with the webhooks would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import yaml

from ingressctl.api import admission
from ingressctl.api.admission import Differs, Refusal
from ingressctl.api.inferenceservices import MODE_ANNOTATION
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.differences import Compat
from tests.cases import comparing
from tests.cases.loading import Run

SHIPPED = {"security": '{"autoMountServiceAccountToken": true}'}
"""Keys that KServe's ConfigMap has and cases leave out (runtime-selection/README.md)."""

RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})
ADMITTED = RUNTIMES | {"InferenceService"}


@dataclass
class Admission:
    """What is stored after some documents, and what was refused with which messages."""

    stored: dict[Ref, Raw] = field(default_factory=dict)
    refused: dict[Ref, tuple[Refusal, ...]] = field(default_factory=dict)

    @property
    def messages(self) -> list[str]:
        return [refusal.message for faults in self.refused.values() for refusal in faults]


def differs_of(run: Run) -> Differs:
    return Compat.parse(run.compat).differs


def admit(documents: Iterable[Raw], *, run: Run, stored: Mapping[Ref, Raw] = {}) -> Admission:
    """Puts the documents one after the other on top of what is stored already.

    Documents of other kinds are stored as they are. A refused one is not stored.
    """
    after = Admission(dict(stored))
    for document in documents:
        _put(document, after, differs_of(run))
    return after


def _put(document: Raw, after: Admission, differs: Differs) -> None:
    ref = ref_of(document)
    if document.get("kind") not in ADMITTED:
        after.stored[ref] = document
        return
    old = after.stored.get(ref)
    admitted = admission.admit(
        document,
        old=old,
        operation="create" if old is None else "update",
        config=SHIPPED | config_of(after.stored.values()),
        differs=differs,
        peers=[obj for obj in after.stored.values() if obj.get("kind") in RUNTIMES],
    )
    if admitted.refusals:
        after.refused[ref] = admitted.refusals
    else:
        after.stored[ref] = admitted.stored


def config_of(objects: Iterable[Raw]) -> dict[str, str]:
    """`data` of inferenceservice-config, empty if there is none."""
    for obj in objects:
        if (obj.get("kind"), ref_of(obj).name) == ("ConfigMap", "inferenceservice-config"):
            return dict(obj.get("data") or {})
    return {}


def validate(run: Run) -> list[str]:
    """Messages of the validator alone, on the object as it is written (INDEX.md)."""
    documents = comparing.documents(run.case["input"])
    services = [obj for obj in documents if obj["kind"] == "InferenceService"]
    operation = run.case["operation"]
    refusals = admission.validate(
        services[-1],
        old=services[0] if operation == "update" else None,
        operation=operation,
        config=config_of(documents),
        differs=differs_of(run),
    )
    return [refusal.message for refusal in refusals]


def default(run: Run) -> list[Raw]:
    """The defaulted services, reduced to name and mode annotation (notes of the cases)."""
    documents = comparing.documents(run.case["input"])
    config, differs = SHIPPED | config_of(documents), differs_of(run)
    return [
        _name_and_mode(admission.default(obj, config=config, differs=differs))
        for obj in documents
        if obj["kind"] == "InferenceService"
    ]


def _name_and_mode(obj: Raw) -> Raw:
    meta = obj["metadata"]
    mode = (meta.get("annotations") or {}).get(MODE_ANNOTATION)
    kept = {"name": meta["name"], "namespace": meta["namespace"]}
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "metadata": kept | ({"annotations": {MODE_ANNOTATION: mode}} if mode else {}),
    }


def compare_stored(stored: Raw | None, expected: str) -> list[str]:
    """Labels, annotations and the whole spec of the stored InferenceService."""
    if stored is None:
        return ["nothing is stored"]
    wanted = yaml.load(expected, yaml.CSafeLoader)
    return [f"stored: {fault}" for fault in comparing.compare_object(stored, wanted)]
