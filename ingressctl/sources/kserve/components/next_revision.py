"""The revision that a changed Knative Service is taken to get, where readiness is assumed.

Knative makes a revision of every new template, numbers it on and, once it is ready, resolves
the targets with `latestRevision` to it (spec/kserve-ingress.md 13). So a canary can be asked
about before it is rolled out. Known limit: without the stored Knative Service nobody knows
whether the template changed; a split from the revision that is both rolled out and the
newest then counts as a change, for it would split nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import templates
from ingressctl.sources.kserve.components import revisions
from ingressctl.sources.kserve.components.scope import Scope

READY_TYPES = ("Ready", "RoutesReady", "ConfigurationsReady")


def status(scope: Scope, component: str, wanted: Raw) -> dict[str, Any] | None:
    """The status that the wanted Service is taken to get; None where nothing is assumed.

    Nothing changes a Service that stands as it is wanted, nor one of somebody else. A
    service that only files hold begins with its first revision elsewhere.
    """
    known = scope.component_status(component)
    if not scope.assumes_ready or not known.get("latestReadyRevision"):
        return None
    stored = _stored(scope, wanted)
    if stored is not None and not scope.service.owner.controls(stored):
        return None
    seen = (stored or {}).get("status") or {}
    name = wanted["metadata"]["name"]
    if stored is None:
        revision = _without_service(name, wanted, known)
    elif not templates.same_template(wanted["spec"], stored.get("spec") or {}):
        revision = name_of(name, _highest(name, seen, known) + 1)
    elif wanted["spec"]["traffic"] == (stored.get("spec") or {}).get("traffic"):
        return None
    else:
        revision = str(seen.get("latestReadyRevisionName") or known["latestReadyRevision"])
    return {**seen, **ready_as(revision, wanted)}


def _stored(scope: Scope, wanted: Raw) -> Raw | None:
    meta = wanted["metadata"]
    return scope.reads.get(Ref("serving.knative.dev", "Service", meta["namespace"], meta["name"]))


def _without_service(name: str, wanted: Raw, known: Mapping[str, Any]) -> str:
    """The newest revision by the component's status, or the next one if it is split from."""
    newest = name_of(name, _highest(name, {}, known))
    pinned = {target.get("revisionName") for target in wanted["spec"]["traffic"]}
    return name_of(name, _highest(name, {}, known) + 1) if newest in pinned else newest


def _highest(name: str, seen: Mapping[str, Any], known: Mapping[str, Any]) -> int:
    """The greatest number of a revision that a status names; 0 if it names none."""
    numbers = (text.removeprefix(f"{name}-") for text in _named(seen, known))
    return max((int(text) for text in numbers if text.isdecimal()), default=0)


def _named(seen: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    for key in revisions.NAMES:
        yield str(known.get(key) or "")
    for key in ("latestCreatedRevisionName", "latestReadyRevisionName"):
        yield str(seen.get(key) or "")
    for target in (*(seen.get("traffic") or ()), *(known.get("traffic") or ())):
        yield str(target.get("revisionName") or "")


def name_of(service: str, number: int) -> str:
    """``NAME-00001``, as Knative numbers them."""
    return f"{service}-{number:05d}"


def ready_as(revision: str, wanted: Raw) -> dict[str, Any]:
    """What the status of a Service says once that revision of it is ready."""
    return {
        "conditions": [{"type": kind, "status": "True"} for kind in READY_TYPES],
        "latestCreatedRevisionName": revision,
        "latestReadyRevisionName": revision,
        "traffic": [_resolved(target, revision) for target in wanted["spec"]["traffic"]],
    }


def _resolved(target: Raw, revision: str) -> dict[str, Any]:
    return {**target, "revisionName": revision} if target.get("latestRevision") else dict(target)
