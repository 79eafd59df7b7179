"""The backends of an HTTPRoute rule: references, grants, and what a faulty one answers.

A reference into another namespace needs a ReferenceGrant there; without one, and for a
Service or port that does not exist, its share of the requests is answered with 500. Files
often hold no Services at all, so one counts as missing only where its namespace has some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.model import External, Service, Split, Target
from ingressctl.core.table import Refused
from ingressctl.core.world import Kind, Reads

REFERENCE_GRANT: Kind = ("gateway.networking.k8s.io", "ReferenceGrant")
SERVICE: Kind = ("", "Service")
STATUS = 500


def read(rule: Mapping[str, Any], ref: Ref, *, reads: Reads) -> Iterator[Split | Refused]:
    """Every backendRef with its weight (1 unless said): served, or refused."""
    for backend in rule.get("backendRefs") or ():
        kind = (backend.get("group") or "", backend.get("kind") or "Service")
        namespace, name = str(backend.get("namespace") or ref.namespace), str(backend.get("name"))
        service = kind == SERVICE
        target: Target = (
            Service(namespace, name) if service else External(f"{kind[1]} {namespace}/{name}")
        )
        weight = backend.get("weight")
        split = Split(
            target,
            int(backend.get("port") or 0),
            1 if weight is None else int(weight),
            _headers(backend),
        )
        reason = _fault(split, kind, namespace, name, ref, reads)
        yield Refused(split, STATUS, reason) if reason else split


def _headers(backend: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(header.get("name")), str(header.get("value")))
        for item in backend.get("filters") or ()
        for header in (item.get("requestHeaderModifier") or {}).get("set") or ()
    )


def _fault(split: Split, kind: Kind, namespace: str, name: str, ref: Ref, reads: Reads) -> str:
    if namespace != ref.namespace and not granted(kind, namespace, name, ref, reads):
        return (
            f"no ReferenceGrant in namespace {namespace} lets HTTPRoutes of {ref.namespace} "
            f"refer to {kind[1]} {name}"
        )
    if kind != SERVICE or not reads.holds(SERVICE, namespace):
        return ""
    obj = reads.get(Ref(*SERVICE, namespace, name))
    if obj is None:
        return f"there is no Service {namespace}/{name}"
    ports = _ports(obj)
    if ports and split.port not in ports:
        return f"Service {namespace}/{name} has no port {split.port}"
    return ""


def _ports(service: Raw) -> tuple[int, ...]:
    listed = (service.get("spec") or {}).get("ports") or ()
    return tuple(int(port.get("port") or 0) for port in listed)


def granted(kind: Kind, namespace: str, name: str, ref: Ref, reads: Reads) -> bool:
    """Whether a ReferenceGrant of that namespace lets the route refer to the object."""
    for grant in reads.list(REFERENCE_GRANT, namespace):
        spec = grant.get("spec") or {}
        source = any(
            (item.get("group"), item.get("kind"), item.get("namespace"))
            == (ref.group, ref.kind, ref.namespace)
            for item in spec.get("from") or ()
        )
        target = any(
            ((item.get("group") or ""), item.get("kind")) == kind
            and item.get("name") in (None, "", name)
            for item in spec.get("to") or ()
        )
        if source and target:
            return True
    return False
