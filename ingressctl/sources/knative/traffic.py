"""The traffic table of a Knative Service as a Route: the second hop down to revisions.

What Knative's Route controller and its networking layer serve for the Service
(spec/knative-routing.md 6.2, 6.4, 6.5, 6.8), so that explain and a local proxy go through
to the revision without Knative. What Knative reports as served (status.traffic at the
present generation) wins over what is wanted. Gradual rollouts appear only in that report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api.refs import (
    Raw,
    Ref,
    annotations_of,
    controller_of,
    group_of,
    labels_of,
    owner_of,
    ref_of,
)
from ingressctl.core import knative_hosts
from ingressctl.core.model import (
    ANY,
    MESH,
    Entry,
    Group,
    HeaderMatch,
    Host,
    Match,
    Retries,
    Role,
    Route,
    Rule,
    Service,
    SetHeaders,
    Split,
)
from ingressctl.core.world import Kind, Reads
from ingressctl.sources.knative import gateways

KNATIVE_SERVICE: Kind = ("serving.knative.dev", "Service")
REVISION: Kind = ("serving.knative.dev", "Revision")
ROUTE_LABEL = "serving.knative.dev/route"
TAG_HEADER = "Knative-Serving-Tag"
HTTP1_PORT, H2C_PORT = 80, 81


@dataclass(frozen=True, slots=True)
class Target:
    """One entry of the traffic table, resolved to a revision."""

    revision: str
    percent: int
    tag: str = ""


def route(obj: Raw, *, reads: Reads) -> Route | None:
    """The Route of a Knative Service; None while it has no revision to serve.

    Raises naming.NameFault or configmaps.ConfigFault.
    """
    by_name = by_target_name(targets(obj, reads=reads))
    if not by_name:
        return None
    ref = ref_of(obj)
    groups = tuple(
        group
        for tag in sorted(by_name)
        for group in _groups(obj, tag, _rules(obj, tag, by_name, reads), reads)
    )
    name = object_name(ref)
    return Route(Ref(ref.group, ref.kind, ref.namespace, name), owner_of(obj), groups)


def object_name(service: Ref) -> str:
    """What net-istio names the gateway's VirtualService of a Knative Service."""
    return f"{service.name}-ingress"


def targets(obj: Raw, *, reads: Reads) -> tuple[Target, ...]:
    """The traffic table with every revision named; an entry without one is left out."""
    status, meta = obj.get("status") or {}, obj.get("metadata") or {}
    served = status.get("traffic") or ()
    present = status.get("observedGeneration") == meta.get("generation", object())
    wanted = (obj.get("spec") or {}).get("traffic") or [{"latestRevision": True, "percent": 100}]
    latest = latest_ready(obj, reads=reads)
    found = (
        Target(
            str(entry.get("revisionName") or latest),
            int(entry.get("percent") or 0),
            str(entry.get("tag") or ""),
        )
        for entry in (served if present and served else wanted)
    )
    return tuple(target for target in found if target.revision)


def latest_ready(obj: Raw, *, reads: Reads) -> str:
    """The latest ready revision by status, else an assumed one where readiness is assumed."""
    name = str((obj.get("status") or {}).get("latestReadyRevisionName") or "")
    if name or not any(reads.assumes_ready(ref) for ref in _makers(obj)):
        return name
    return _assumed_latest(obj)


def _makers(obj: Raw) -> Iterator[Ref]:
    """The Service itself, and the object that it was made from."""
    yield ref_of(obj)
    owner = controller_of(obj)
    if owner is not None:
        group = group_of(str(owner.get("apiVersion") or ""))
        place = ref_of(obj).namespace
        yield Ref(group, str(owner.get("kind") or ""), place, str(owner.get("name") or ""))


def _assumed_latest(obj: Raw) -> str:
    """``NAME-00001``, or the one after those that the traffic table pins.

    A canary is traffic to the latest revision beside a pinned earlier one: they are two.
    """
    name = ref_of(obj).name
    pinned = (
        str(entry.get("revisionName") or "")
        for entry in (obj.get("spec") or {}).get("traffic") or ()
    )
    numbers = (text.removeprefix(f"{name}-") for text in pinned if text.startswith(f"{name}-"))
    before = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return f"{name}-{before + 1:05d}"


def by_target_name(table: Iterable[Target]) -> Mapping[str, tuple[Target, ...]]:
    """Targets under "" and under each tag, one a revision; a single one gets all (6.2)."""
    lists: dict[str, list[Target]] = {}
    for target in table:
        lists.setdefault("", []).append(target)
        if target.tag:
            lists.setdefault(target.tag, []).append(target)
    return {name: _consolidated(found) for name, found in lists.items()}


def _consolidated(found: Iterable[Target]) -> tuple[Target, ...]:
    sums: dict[str, Target] = {}
    for target in found:
        before = sums.get(target.revision)
        percent = target.percent + (before.percent if before else 0)
        sums[target.revision] = Target(target.revision, percent, (before or target).tag)
    kept = tuple(sums.values())
    return (Target(kept[0].revision, 100, kept[0].tag),) if len(kept) == 1 else kept


def _rules(
    obj: Raw, tag: str, by_name: Mapping[str, tuple[Target, ...]], reads: Reads
) -> tuple[Rule, ...]:
    """The rule of one target name; with tag headers, one before it for each tag (6.8)."""
    if not _tag_headers(reads):
        return (_rule(obj, "traffic", by_name[tag], "tag" if tag else "revision", reads),)
    if tag:
        mark = SetHeaders(((TAG_HEADER, tag),))
        return (_rule(obj, "traffic", by_name[tag], "tag", reads, mark=mark),)
    mark = SetHeaders((("Knative-Serving-Default-Route", "true"),))
    return (
        *(
            _rule(
                obj,
                f"tag-{name}",
                by_name[name],
                "tag",
                reads,
                matches=(Match(headers=(HeaderMatch(TAG_HEADER, "exact", name),)),),
            )
            for name in sorted(by_name)
            if name
        ),
        _rule(obj, "traffic", by_name[""], "revision", reads, mark=mark),
    )


def _rule(
    obj: Raw,
    name: str,
    found: tuple[Target, ...],
    role: Role,
    reads: Reads,
    *,
    matches: tuple[Match, ...] = ANY,
    mark: SetHeaders | None = None,
) -> Rule:
    ref = ref_of(obj)
    return Rule(
        name=name,
        matches=matches,
        splits=tuple(_split(obj, target, role, reads) for target in found if target.percent),
        filters=(mark,) if mark else (),
        retries=Retries(0),
        reason=f"traffic of {ref}",
    )


def _split(obj: Raw, target: Target, role: Role, reads: Reads) -> Split:
    namespace = ref_of(obj).namespace
    return Split(
        Service(namespace, target.revision),
        H2C_PORT if _is_h2c(obj, target.revision, reads) else HTTP1_PORT,
        target.percent,
        (
            ("Knative-Serving-Revision", target.revision),
            ("Knative-Serving-Namespace", namespace),
        ),
        role,
    )


def _is_h2c(obj: Raw, revision: str, reads: Reads) -> bool:
    """By the name of the container's port, in the Revision where there is one."""
    found = reads.get(Ref(*REVISION, ref_of(obj).namespace, revision))
    spec: Any = (found or {}).get("spec") or ((obj.get("spec") or {}).get("template") or {}).get(
        "spec"
    )
    return any(
        str(port.get("name") or "").startswith("h2c")
        for container in (spec or {}).get("containers") or ()
        for port in container.get("ports") or ()
    )


def _tag_headers(reads: Reads) -> bool:
    namespace = reads.settings.knative_namespace
    text = reads.config(namespace, "config-features", "tag-header-based-routing") or ""
    return text.lower() == "enabled"


def _groups(obj: Raw, tag: str, rules: tuple[Rule, ...], reads: Reads) -> tuple[Group, ...]:
    """The internal names at the local gateway, and the public one unless it is private."""
    ref, known = ref_of(obj), gateways.find(reads)
    full, *short = knative_hosts.local_hosts(ref.name, ref.namespace, reads=reads, tag=tag)
    inside = (
        Host(full, "exact", "local", "internal"),
        *(Host(name, "short", "local", "internal") for name in short),
    )
    local = tuple(Entry("gateway", name, reach="local") for name, _ in known.local)
    group = Group(inside, (*local, MESH), rules)
    if is_private(obj, tag, reads=reads):
        return (group,)
    host = knative_hosts.route_host(
        ref.name,
        ref.namespace,
        labels=labels_of(obj),
        annotations=annotations_of(obj),
        reads=reads,
        tag=tag,
    )
    public = tuple(Entry("gateway", name) for name, _ in known.public)
    outside = Group((Host(host, origin="tag" if tag else "template"),), public, rules)
    return (group, outside)


def is_private(obj: Raw, tag: str, *, reads: Reads) -> bool:
    """By the Service's own label, or by that of its placeholder Service (6.4).

    Raises naming.NameFault or configmaps.ConfigFault.
    """
    if knative_hosts.is_local(labels_of(obj), reads=reads):
        return True
    ref = ref_of(obj)
    name = knative_hosts.sub_name(ref.name, tag, reads=reads)
    placeholder = labels_of(reads.get(Ref("", "Service", ref.namespace, name)) or {})
    return placeholder.get(ROUTE_LABEL) == ref.name and bool(
        placeholder.get(knative_hosts.VISIBILITY)
    )
