"""What becomes of stored objects when an owner's wanted objects are laid over them.

Purely: the wanted objects, the world, and what must stay give what to create, change and
delete. Objects of somebody else are never touched, under every `compat`. Comparing and
replacing of routes follow spec/kserve-ingress.md 18 while differences Q4 and Q5 are off;
those of workloads stand in `workloads`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Owner, Raw, Ref, is_alias, ref_of
from ingressctl.core import managed
from ingressctl.core.outcome import Finding, Keep
from ingressctl.core.values import Value
from ingressctl.core.world import Kind, Reads
from ingressctl.plan import normalise, workloads


class Settlement(Value, frozen=True):
    """Changes of one owner's objects. `changed` has the whole new object.

    `blocked` are wanted objects in whose place somebody else's stand.
    """

    created: tuple[Raw, ...] = ()
    changed: tuple[Raw, ...] = ()
    deleted: tuple[Ref, ...] = ()
    findings: tuple[Finding, ...] = ()
    blocked: tuple[Ref, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether nothing is to be written."""
        return not (self.created or self.changed or self.deleted)


def settle(
    owner: Owner,
    wanted: Iterable[Raw],
    *,
    kinds: tuple[Kind, ...],
    keep: Keep,
    reads: Reads,
    gone: Iterable[Ref] = (),
) -> Settlement:
    """The changes that turn the stored objects of `owner` into the wanted ones.

    `kinds` are all kinds that any provider of the owner may have written; owned objects of
    them that are not wanted are deleted, unless `keep` holds them. Owned objects among
    `gone` are deleted as well: the source decided on each.
    """
    wanted_by_ref = {ref_of(obj): obj for obj in wanted}
    created: list[Raw] = []
    changed: list[Raw] = []
    blocked: list[Ref] = []
    for ref, obj in wanted_by_ref.items():
        stored = reads.get(ref)
        if stored is None:
            created.append(obj)
        elif not owner.controls(stored):
            blocked.append(ref)
        else:
            new = replacement(stored, obj, reads)
            if new is not None:
                changed.append(new)
    deleted = {
        *_stale(owner, wanted_by_ref, kinds, keep, reads),
        *_owned(owner, gone, reads),
    }
    findings = tuple(foreign(ref, owner) for ref in blocked)
    return Settlement(
        tuple(created), tuple(changed), tuple(sorted(deleted)), findings, tuple(blocked)
    )


def foreign(ref: Ref, owner: Owner) -> Finding:
    """Somebody else's object stands where ours should."""
    return Finding.of(
        "IC5101",
        ref,
        owner.ref,
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        owner=str(owner.ref),
    )


def _stale(
    owner: Owner,
    wanted: Mapping[Ref, Raw],
    kinds: tuple[Kind, ...],
    keep: Keep,
    reads: Reads,
) -> tuple[Ref, ...]:
    owned = {ref_of(obj): obj for obj in reads.owned(owner) if is_routing(obj, kinds)}
    return tuple(
        sorted(
            ref
            for ref, obj in owned.items()
            if ref not in wanted
            and (not keep.holds(ref) or (keep.hidden and shows(obj, reads.settings.cluster_domain)))
        )
    )


def shows(obj: Raw, cluster_domain: str) -> bool:
    """Whether a route has hosts that are not the cluster's own."""
    return any(not host.endswith(f".svc.{cluster_domain}") for host in hosts(obj))


def hosts(obj: Raw) -> tuple[str, ...]:
    """The hosts that a route object is for."""
    spec = obj.get("spec") or {}
    rules = (rule.get("host") for rule in spec.get("rules") or () if isinstance(rule, Mapping))
    found = (*(spec.get("hosts") or ()), *(spec.get("hostnames") or ()), *rules, spec.get("host"))
    return tuple(str(host) for host in found if host)


def _owned(owner: Owner, refs: Iterable[Ref], reads: Reads) -> Iterator[Ref]:
    for ref in refs:
        stored = reads.get(ref)
        if stored is not None and owner.controls(stored):
            yield ref


def is_routing(obj: Raw, kinds: tuple[Kind, ...]) -> bool:
    """Whether an object is of these kinds; of Services only aliases are routes."""
    ref = ref_of(obj)
    if (ref.group, ref.kind) == ("", "Service"):
        return ("", "Service") in kinds and is_alias(obj)
    return (ref.group, ref.kind) in kinds


def replacement(stored: Raw, wanted: Raw, reads: Reads) -> Raw | None:
    """The object to write over `stored`, or None when nothing differs."""
    kind = str(wanted.get("kind"))
    if workloads.is_workload(wanted):
        return workloads.replacement(stored, wanted, reads)
    if kind == "Service":
        return _merged_service(stored, wanted)
    if kind == "HTTPRoute" and not reads.differs("Q4"):
        if normalise.derives(wanted, stored):
            return None
    elif kind == "Ingress" and not reads.differs("Q5"):
        if wanted.get("spec") == stored.get("spec"):
            return None
    elif normalise.same(wanted, stored, foreign=reads.differs("F31")):
        return None
    return _replaced(stored, wanted, foreign=reads.differs("F31"))


def _replaced(stored: Raw, wanted: Raw, *, foreign: bool) -> Raw:
    """The wanted object with what the API server owns of the stored one, and with labels and
    annotations of somebody else if `foreign` ones stay."""
    meta = dict(stored.get("metadata") or {})
    for key in ("labels", "annotations", "ownerReferences"):
        meta.pop(key, None)
    meta.update(wanted.get("metadata") or {})
    for field in managed.MERGED if foreign else ():
        kept = normalise.foreign_keys(wanted, stored, field)
        if kept:
            meta[field] = {**kept, **(meta.get(field) or {})}
    return {**stored, **wanted, "metadata": meta}


def _merged_service(stored: Raw, wanted: Raw) -> Raw | None:
    """An owned Service keeps foreign labels and annotations; its spec is ours."""
    if _subset(wanted.get("spec") or {}, stored.get("spec") or {}):
        return None
    return {**stored, "spec": wanted["spec"]}


def _subset(wanted: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    return all(stored.get(key) == value for key, value in wanted.items())
