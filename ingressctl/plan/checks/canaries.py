"""Canary fields that do nothing in the mode, or less than they seem to (F6, F46, F28)."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.inferenceservices import TAG_ANNOTATION, InferenceService
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import Picture


def find(picture: Picture) -> Iterator[Finding]:
    """What each service says of canaries in vain."""
    for service in picture.services:
        if picture.mode(service) == "Standard":
            yield from _standard(service)
        elif picture.mode(service) == "Knative":
            yield from _knative(service)


def _standard(service: InferenceService) -> Iterator[Finding]:
    for component, spec in service.components:
        if spec.canaryTrafficPercent is not None:
            path = f"spec.{component}.canaryTrafficPercent"
            yield Finding.of("IC3202", service.ref, path=path, difference="Q39")
    if service.annotations.get(TAG_ANNOTATION, "").lower() == "true":
        yield Finding.of("IC3205", service.ref, annotation=TAG_ANNOTATION)
    if not service.canaries:
        return
    if service.spec.transformer is not None:
        yield Finding.of("IC3204", service.ref, path="spec.canary")


def _knative(service: InferenceService) -> Iterator[Finding]:
    if service.canaries:
        yield Finding.of("IC3203", service.ref, path="spec.canary")
