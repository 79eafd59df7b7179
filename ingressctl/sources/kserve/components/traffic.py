"""The traffic table of a Knative Service and its tags (spec/kserve-ingress.md 12).

A tag is put on only if its host can be (F28): Knative could otherwise no longer reconcile
the route at all, tagged or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api import dns
from ingressctl.api.inferenceservices import TAG_ANNOTATION, InferenceService
from ingressctl.api.refs import Raw
from ingressctl.core import knative_hosts, naming
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Reads

FULL = 100
LATEST = "latest"
PREVIOUS = "prev"

Target = dict[str, Any]


def targets(
    percent: int | None, rolled_out: str, annotations: Mapping[str, str], *, newest: str = ""
) -> list[Target]:
    """The targets for canaryTrafficPercent and latestRolledoutRevision of a component.

    `newest` names the revision that shares traffic instead of the newest ready one.
    """
    split = percent is not None and bool(rolled_out)
    latest: Target = {"latestRevision": True, "percent": percent if split else FULL}
    if split and newest and 0 < (percent or 0) < FULL:
        latest = {"latestRevision": False, "percent": percent, "revisionName": newest}
    if annotations.get(TAG_ANNOTATION) == "true":
        latest["tag"] = LATEST
    if not split or percent is None or percent >= FULL:
        return [latest]
    previous: Target = {
        "latestRevision": False,
        "percent": FULL - percent,
        "revisionName": rolled_out,
        "tag": PREVIOUS,
    }
    return [latest, previous]


def unready_newest(component: Mapping[str, Any]) -> str:
    """The newest revision by a component's status, while a rejected one is the newest ready.

    A target with `latestRevision` would lead to the rejected one until then (F27); Knative
    keeps the traffic as it is while a named revision is not ready. "" where none is rejected.
    """
    created, ready, rolled_out = (
        str(component.get(key) or "")
        for key in ("latestCreatedRevision", "latestReadyRevision", "latestRolledoutRevision")
    )
    return created if ready and ready not in (created, rolled_out) else ""


def without_long_tags(
    table: list[Target], knative_service: Raw, service: InferenceService, *, reads: Reads
) -> tuple[list[Target], tuple[Finding, ...]]:
    """The table without tags whose host cannot be, and a finding for each (F28)."""
    findings: list[Finding] = []
    kept = []
    for target in table:
        finding = _tag_finding(target.get("tag") or "", knative_service, service, reads)
        if finding is None:
            kept.append(target)
            continue
        findings.append(finding)
        kept.append({key: value for key, value in target.items() if key != "tag"})
    return kept, tuple(findings)


def _tag_finding(
    tag: str, knative_service: Raw, service: InferenceService, reads: Reads
) -> Finding | None:
    if not tag:
        return None
    label = _too_long(tag, knative_service, reads)
    if not label:
        return None
    return Finding.of(
        "IC3201",
        service.ref,
        path=f'metadata.annotations["{TAG_ANNOTATION}"]',
        difference="F28",
        tag=tag,
        label=label,
        length=len(label),
    )


def _too_long(tag: str, knative_service: Raw, reads: Reads) -> str:
    """The label of the tag's host that is over the limit; "" if none is.

    A host that cannot be rendered for another reason is the untagged one's trouble too.
    """
    meta = knative_service["metadata"]
    try:
        host = knative_hosts.unchecked_host(
            meta["name"],
            meta["namespace"],
            labels=meta["labels"],
            annotations=meta.get("annotations") or {},
            reads=reads,
            tag=tag,
        )
    except naming.NameFault:
        return ""
    label = max(host.split("."), key=len)
    return label if len(label) > dns.LABEL_LIMIT else ""
