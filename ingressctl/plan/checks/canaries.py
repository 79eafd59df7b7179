"""Canary fields that do nothing in the mode, or less than they seem to (F6, F46, F28).

In Knative mode the split is the traffic table of the Knative Service: the routes stay as they
are, so what changes in that table is told by itself (spec/kserve-ingress.md 12, 13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingressctl.api.inferenceservices import TAG_ANNOTATION, InferenceService
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import KNATIVE_SERVICE, Picture

FULL = 100


def find(picture: Picture) -> Iterator[Finding]:
    """What each service says of canaries in vain."""
    for service in picture.services:
        if picture.mode(service) == "Standard":
            yield from _standard(service)
        elif picture.mode(service) == "Knative":
            yield from _knative(service)
            yield from _shares(service, picture)


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


def _shares(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """Percentages that wait for a first rollout, and tables that change."""
    for component, spec in service.components:
        name = service.object_name(component)
        ref = Ref(*KNATIVE_SERVICE, service.namespace, name)
        before = _component_status(service.ref, component, picture)
        path, percent = f"spec.{component}.canaryTrafficPercent", spec.canaryTrafficPercent
        if percent is not None and percent < FULL and not before.get("latestRolledoutRevision"):
            yield Finding.of("IC3221", service.ref, path=path, percent=percent, service=name)
        elif "workloads" not in picture.settings.write:
            yield from _changed_table(service, ref, before, path, picture)


def _component_status(service: Ref, component: str, picture: Picture) -> Mapping[str, Any]:
    """What the component's status said before the cascade."""
    status = (picture.cascade.start.get(service) or {}).get("status") or {}
    return (status.get("components") or {}).get(component) or {}


def _changed_table(
    service: InferenceService, ref: Ref, before: Mapping[str, Any], path: str, picture: Picture
) -> Iterator[Finding]:
    """The traffic table of a Knative Service that the routes do not show."""
    stored = ((picture.cascade.start.get(ref) or {}).get("spec") or {}).get("traffic")
    old = stored or before.get("traffic") or ()
    new = _wanted(service.ref, ref, picture)
    if not old or not new or _table(old) == _table(new):
        return
    latest = str(before.get("latestReadyRevision") or "")
    yield Finding.of(
        "IC3220",
        service.ref,
        path=path,
        service=str(ref),
        old=_told(old, latest),
        new=_told(new, ""),
    )


def _wanted(service: Ref, ref: Ref, picture: Picture) -> list[Raw]:
    step = picture.steps.get(service)
    bodies = (child.body for child in step.outcome.children if child.ref == ref) if step else ()
    return next((body["spec"]["traffic"] for body in bodies), [])


def _table(targets: Iterable[Raw]) -> list[tuple[str, int]]:
    """Each target that gets requests: its revision ("" for the latest) and its share."""
    return [(_pinned(item), int(item["percent"])) for item in targets if item.get("percent")]


def _pinned(target: Raw) -> str:
    return "" if target.get("latestRevision") else str(target.get("revisionName") or "")


def _told(targets: Iterable[Raw], latest: str) -> str:
    """``10 % latest, 90 % iris-predictor-00001``"""
    newest = f"latest ({latest})" if latest else "latest"
    return ", ".join(f"{percent} % {pinned or newest}" for pinned, percent in _table(targets))
