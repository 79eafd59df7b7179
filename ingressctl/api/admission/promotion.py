"""What an update may not change: the mode, and the predictor's name alone."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api import configmaps
from ingressctl.api.admission import forms
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.inferenceservices import MODE_ANNOTATION
from ingressctl.api.models.inferenceservices import InferenceService


def refusals(new: InferenceService, stored: InferenceService) -> Iterator[Refusal]:
    """Faults of the step from `stored` to `new` (spec/kserve-ingress.md 19)."""
    yield from _mode(new, stored)
    yield from _name(new, stored)


def _mode(new: InferenceService, stored: InferenceService) -> Iterator[Refusal]:
    """The mode of the status sticks for the life of the object."""
    before = (stored.status.deploymentMode if stored.status else None) or ""
    before = configmaps.OLD_MODES.get(before, before)
    after = (new.metadata.annotations or {}).get(MODE_ANNOTATION)
    if before and after is not None and after != before:
        yield Refusal(
            f"update rejected: deploymentMode cannot be changed from '{before}' to '{after}'",
            f"metadata.annotations[{MODE_ANNOTATION}]",
            f"write {before}, or delete the service and create it anew",
        )


def _name(new: InferenceService, stored: InferenceService) -> Iterator[Refusal]:
    """A new name is a promotion, and a promotion brings the canary's model."""
    before, after = stored.spec.predictor, new.spec.predictor
    renamed = (before.name or "") != (after.name or "")
    if renamed and forms.storage_uri(before) == forms.storage_uri(after):
        yield Refusal(
            "predictor.name change requires a model change",
            "spec.predictor.name",
            "give the predictor the canary's storageUri too, or keep its name",
        )
