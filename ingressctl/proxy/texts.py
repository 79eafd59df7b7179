"""What `up` says of hosts: which came and went, and why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ingressctl.api import inferencegraphs, inferenceservices
from ingressctl.api.refs import Raw, labels_of, ref_of
from ingressctl.plan.serving import Served

CLUSTER_LOCAL = "cluster-local"
"""The value of either label of visibility."""

BAD_IF_TRUE = frozenset({"Stopped"})

NAMED = 5
"""Hosts or services that are named; the rest is counted."""


def change(before: Sequence[str], after: Sequence[str]) -> str:
    """``serving 8 hosts; now new: a, b; gone: c``"""
    new = [host for host in after if host not in frozenset(before)]
    gone = [host for host in before if host not in frozenset(after)]
    parts = [f"serving {counted(after)}"]
    parts += [f"now new: {_named(new)}"] if new else []
    parts += [f"gone: {_named(gone)}"] if gone else []
    return "; ".join(parts if new or gone else [*parts, "what they lead to changed"])


def counted(hosts: Sequence[str]) -> str:
    """``1 host``, ``2 hosts``"""
    return f"{len(hosts)} host{'' if len(hosts) == 1 else 's'}"


def lossy(provider: str) -> str:
    """Before the losses of a provider that does not serve here."""
    return f"serving with Envoy; provider {provider}, which the configuration chooses, would lose:"


def _named(hosts: Sequence[str]) -> str:
    rest = len(hosts) - NAMED
    return ", ".join(hosts[:NAMED]) + (f" and {rest} more" if rest > 0 else "")


def without_hosts(served: Served) -> Iterator[str]:
    """Why no host is served: what each service and graph lacks, or that there is none."""
    kinds = (inferenceservices.KIND, inferencegraphs.KIND)
    owners = [obj for kind in kinds for obj in served.world.list(kind)]
    if not owners:
        nothing = "there is no InferenceService or InferenceGraph in the files"
        yield f"warning: no host is served: {nothing}"
        return
    yield "warning: no host is served:"
    for obj in owners[:NAMED]:
        yield f"  {ref_of(obj)} {_why(obj, served)}"
    if len(owners) > NAMED:
        yield f"  and {len(owners) - NAMED} more"


def _why(obj: Raw, served: Served) -> str:
    ref = ref_of(obj)
    fault = next((fault for owner, fault in served.faults if owner == ref), None)
    if fault:
        return f"cannot be derived: {fault.message}"
    if ref in served.routes or CLUSTER_LOCAL in labels_of(obj).values():
        return f"is only for clients inside the cluster (its visibility is {CLUSTER_LOCAL})"
    for condition in (obj.get("status") or {}).get("conditions") or ():
        kind, status = condition.get("type"), condition.get("status")
        if (status == "True") == (kind in BAD_IF_TRUE):
            said = condition.get("message") or condition.get("reason") or ""
            return f"makes no route: {kind} is {status}{': ' if said else ''}{said}"
    return "makes no route"
