"""One answer to "why is it not ready?": an object with its chain, split, URLs and writers.

An object that a cluster holds is described as it is; its reconcile is tried once, for what it
would say. One that only files hold is described as it would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingressctl.api.inferenceservices import KIND as INFERENCE_SERVICE
from ingressctl.api.refs import Raw, Ref, annotations_of, display_kind, ref_of
from ingressctl.core import findings as table
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Table
from ingressctl.core.world import Reads, World
from ingressctl.plan import (
    admitting,
    cascade,
    chain,
    findings,
    listing,
    overlay,
    registry,
    splitting,
    states,
)
from ingressctl.plan.cascade import Step
from ingressctl.plan.chain import Node
from ingressctl.plan.listing import Row
from ingressctl.plan.splitting import Splitting
from ingressctl.plan.states import State

PAUSED = "ingressctl.dev/paused"
STATUS = "status"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an object is not ready: which one says so, in its words, and what to do next."""

    ref: Ref
    reason: str
    message: str
    help: str = ""

    @property
    def text(self) -> str:
        """``Kind namespace/name: Reason: message``."""
        return ": ".join(part for part in (str(self.ref), self.own_words) if part)

    @property
    def own_words(self) -> str:
        """``Reason: message``; "" where neither is said."""
        return ": ".join(part for part in (self.reason, self.message) if part)


@dataclass(frozen=True, slots=True)
class Url:
    """Where the object is reached, and what for: "" from outside."""

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Writer:
    """A manager of fields. `what` is the subresource, "" for the object itself."""

    name: str
    what: str
    how: str
    time: str


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that is told of one object."""

    obj: Raw
    node: Node
    owners: tuple[Node, ...]
    cause: Cause | None
    urls: tuple[Url, ...]
    splittings: tuple[Splitting, ...]
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    writers: tuple[Writer, ...]
    paused: str
    step: Step | None

    @property
    def ref(self) -> Ref:
        """The object's identity."""
        return self.node.ref

    @property
    def is_ready(self) -> bool:
        """Whether the object says so; or says nothing, and nothing stands in its way."""
        return self.cause is None


def describe(
    obj: Raw,
    world: World,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, Provider],
    carried: tuple[Table, ...] = (),
    blind: bool = False,
) -> Description:
    """The description of an object of a world.

    `blind`: something that a reconcile reads may not be read, so that it is nobody's fault if
    it is not there.
    """
    root = chain.top(obj, world)
    held = overlay.is_held(root)
    done = cascade.run(
        world,
        settings,
        now=now,
        providers=providers,
        only=frozenset((ref_of(root),)),
        passes=1 if held else cascade.MAX_PASSES,
    )
    step = next(iter(done.steps), None)
    seen = world if held else done.world
    obj, root = (seen.get(ref_of(item)) or item for item in (obj, root))
    lacking = step.settlement.created if step and held and states.of(root).is_bad else ()
    node = chain.tree(obj, seen, missing=lacking)
    said = _findings(node, root, step, done, world, settings)
    rows = _rows(node, Reads(seen, settings, providers=providers), carried)
    return Description(
        obj,
        node,
        tuple(_above(obj, seen)),
        _cause(node, said, step if ref_of(root) == node.ref else None, blind=blind),
        tuple(dict.fromkeys(_urls(obj, rows))),
        splitting.find(node, rows, seen),
        rows,
        said,
        tuple(_writers(obj)),
        annotations_of(obj).get(PAUSED, ""),
        step,
    )


def _above(obj: Raw, world: World) -> Iterator[Node]:
    """The owners, the direct one first."""
    for ref in chain.owners(obj, world):
        owner = world.get(ref)
        unread = State("", "NotThere", "it is not there, or may not be read")
        yield Node(ref, owner, states.of(owner) if owner is not None else unread)


def _findings(
    node: Node,
    root: Raw,
    step: Step | None,
    done: cascade.Cascade,
    world: World,
    settings: Settings,
) -> tuple[Finding, ...]:
    """What is found about the object and everything below it that is its own."""
    concerned = frozenset(item.ref for item in node.walk() if not _is_shared(item.ref, node))
    said = step.findings if step else ()
    if ref_of(root) == node.ref:
        said = (*said, *admitting.refusals(root, world=world, settings=settings))
    else:
        said = tuple(item for item in said if any(ref in concerned for ref in item.refs))
    checked = findings.about(concerned, done, base=world, settings=settings)
    return tuple(sorted(dict.fromkeys((*said, *checked)), key=findings.order))


def _is_shared(ref: Ref, node: Node) -> bool:
    """Gateways and classes serve many: what is found about them is told of them alone."""
    shared = (chain.ISTIO_GATEWAY, chain.GATEWAY, chain.INGRESS_CLASS)
    return ref != node.ref and ref[:2] in shared


def _rows(node: Node, reads: Reads, carried: tuple[Table, ...]) -> tuple[Row, ...]:
    """The routes of the object and of everything below it."""
    below = frozenset(item.ref for item in node.walk())
    kinds = registry.routing_kinds(reads.providers)
    if not carried and not any(ref[:2] in kinds for ref in below):
        return ()
    tables = listing.tables(reads, carried)
    return listing.rows(tables, reads, wanted=lambda ref: ref in below)


def _cause(
    node: Node, said: tuple[Finding, ...], step: Step | None, *, blind: bool
) -> Cause | None:
    """The first cause, if the object is not ready.

    A failure below it comes first, then what its reconcile or a check says, then what is still
    on its way.
    """
    found = chain.first_cause(node)
    if found is None and (node.state.status == "True" or step is None):
        return None
    failed = found is not None and found.state.status == "False" and found.ref != node.ref
    if found is not None and (failed or blind):
        return _of_node(found)
    for fault in step.faults if step else ():
        return Cause(node.ref, "", fault.message)
    grave = next((item for item in said if table.level(item) == "error"), None)
    if grave is not None:
        ref = grave.refs[0] if grave.refs else node.ref
        return Cause(ref, grave.code, table.message(grave), table.remedy(grave))
    return _of_node(found) if found is not None else None


def _of_node(node: Node) -> Cause:
    return Cause(node.ref, node.state.reason, node.state.message.strip(), _next(node))


def _next(node: Node) -> str:
    """The command that tells more; "" where the message is all there is."""
    ref = node.ref
    if ref.kind == "Pod":
        if node.state.reason in ("CrashLoopBackOff", "Error", "OOMKilled"):
            return f"kubectl -n {ref.namespace} logs {ref.name} --all-containers --previous"
        return f"kubectl -n {ref.namespace} describe pod {ref.name}"
    if node.obj is None or node.state == states.UNSEEN:
        called = display_kind(ref.group, ref.kind)
        return f"see whether the controller of {called} runs, and what it logs"
    if ref.kind in ("Deployment", "ReplicaSet", "Revision"):
        return f"kubectl -n {ref.namespace} get events --sort-by=.lastTimestamp"
    return ""


def _urls(obj: Raw, rows: Iterable[Row]) -> Iterator[Url]:
    status = obj.get("status") or {}
    ref = ref_of(obj)
    if status.get("url"):
        yield Url(str(status["url"]))
    inside = (status.get("address") or {}).get("url")
    if inside:
        yield Url(str(inside), "in the cluster")
    components = status.get("components") if ref[:2] == INFERENCE_SERVICE else None
    tables: list[tuple[str, Mapping[str, Any]]] = [("", status)]
    for name, component in (components or {}).items():
        if component.get("url"):
            yield Url(str(component["url"]), name)
        tables.append((f"{name} ", component))
    for name, holder in tables:
        for entry in holder.get("traffic") or ():
            if entry.get("tag") and entry.get("url"):
                yield Url(str(entry["url"]), f"{name}#{entry['tag']}")
    if not status.get("url") and ref[:2] != INFERENCE_SERVICE:
        yield from (Url(f"http://{row.host}") for row in rows if row.source == ref)


def _writers(obj: Raw) -> Iterator[Writer]:
    """Each manager once for the object and once for its status, the latest time of each."""
    latest: dict[tuple[str, str], Writer] = {}
    for item in (obj.get("metadata") or {}).get("managedFields") or ():
        name, what = str(item.get("manager") or ""), str(item.get("subresource") or "")
        writer = Writer(name, what, str(item.get("operation") or ""), str(item.get("time") or ""))
        before = latest.get((name, what))
        if before is None or before.time < writer.time:
            latest[name, what] = writer
    yield from sorted(latest.values(), key=lambda item: (item.what, item.time, item.name))
