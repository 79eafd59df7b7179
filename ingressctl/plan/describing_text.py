"""A description as text for people and as JSON for programs. The first line is the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from ingressctl.api.refs import Raw, Ref
from ingressctl.plan import columns, listing, states
from ingressctl.plan.chain import Node
from ingressctl.plan.describing import Description, Writer
from ingressctl.plan.splitting import Share, Splitting
from ingressctl.plan.states import State

STEP = "  "
MARKS = {"True": "++", "False": "!!", "Unknown": "??", "": "  "}
"""As kn marks conditions; an object that says nothing has none."""
INFO = " i"
"""A condition that is not True and that only informs."""


def lines(told: Description, *, now: datetime, origin: str = "") -> Iterator[str]:
    """The description, without its findings. `origin` is the file that holds the object."""
    yield headline(told)
    if told.cause is not None and told.cause.help:
        yield f"{STEP}help: {told.cause.help}"
    yield from _of_owner(told)
    yield ""
    yield from _facts(told, now, origin)
    yield from _block("URLs", (_url(item.text, item.note) for item in told.urls))
    for item in told.splittings:
        yield from _block(_title(item, told), _shares(item))
    if told.rows and told.ref in {row.source for row in told.rows}:
        yield from _block("Rules", _rules(told))
    yield from _block("Conditions", (_condition(item) for item in conditions(told.obj)))
    yield from _block("Chain", _chain(told))


def headline(told: Description) -> str:
    """``KIND ns/name is ready``, or why not."""
    if told.cause is not None:
        said = told.cause.own_words if told.cause.ref == told.ref else told.cause.text
        return f"{told.ref} is not ready: {said or 'it says no reason'}"
    if told.node.state.status == "True":
        return f"{told.ref} is ready"
    return f"{told.ref} says nothing of its state, and nothing stands in its way"


def _of_owner(told: Description) -> Iterator[str]:
    """What the owner says where it is not ready, for the object may be in its way."""
    top = told.owners[-1] if told.owners else None
    if top is not None and top.state.is_bad:
        yield f"{STEP}it belongs to {top.ref}, which is not ready: {top.state.text}"


def _facts(told: Description, now: datetime, origin: str) -> Iterator[str]:
    rows = [("Written by", _written(told.writers) or origin or "<unknown>")]
    if told.owners:
        rows.append(("Belongs to", " <- ".join(str(node.ref) for node in told.owners)))
    mode = (told.obj.get("status") or {}).get("deploymentMode")
    if mode:
        rows.append(("Mode", str(mode)))
    if told.paused:
        rows.append(("Paused", f"ingressctl.dev/paused: {told.paused}"))
    created = (told.obj.get("metadata") or {}).get("creationTimestamp")
    if created:
        rows.append(("Age", columns.age(created, now)))
    yield from (f"{name + ':':<13}{text}" for name, text in rows)


def _written(writers: Iterable[Writer]) -> str:
    return ", ".join(_writer(item) for item in writers)


def _writer(item: Writer) -> str:
    return f"{item.name} ({item.what})" if item.what else item.name


def _block(title: str, found: Iterable[str]) -> Iterator[str]:
    inner = [f"{STEP}{line}" for line in found]
    if inner:
        yield from ("", f"{title}:", *inner)


def _url(text: str, note: str) -> str:
    return f"{text} ({note})" if note else text


def _title(item: Splitting, told: Description) -> str:
    of = "" if item.of == told.ref else f" of {item.of}"
    return f"Split{of} (wanted, served)"


def _shares(item: Splitting) -> Iterator[str]:
    for share in item.shares:
        yield f"{_percent(share.wanted)} {_percent(share.served)} {share.sign} {_named(share)}"
        if share.state.status == "False":
            yield f"{'':<14}Error: {share.state.text}"


def _percent(value: float | None) -> str:
    return "    -" if value is None else f"{value:>4g}%"


def _named(share: Share) -> str:
    role = f" ({share.role})" if share.role == "canary" else ""
    tag = f" #{share.tag}" if share.tag else ""
    return f"{share.name}{role}{tag}"


def _rules(told: Description) -> Iterator[str]:
    for row in told.rows:
        lost = f" ({row.reason})" if row.reason else ""
        share = "" if row.percent == listing.NONE else f" {row.percent}%"
        path = "" if row.rule == listing.NONE else row.rule
        yield f"{row.host}{path} -> {row.backend}{share}{lost}"


class Condition(NamedTuple):
    """A condition as it is printed. `info`: it only informs."""

    name: str
    state: State
    info: bool


def conditions(obj: Raw) -> Iterator[Condition]:
    """Every condition with its name; those of a route's parents with the gateway's."""
    for item in states.conditions(obj):
        yield Condition(str(item.get("type") or ""), states.read(item), states.is_info(item))
    for parent in (obj.get("status") or {}).get("parents") or ():
        gateway = (parent.get("parentRef") or {}).get("name")
        for item in parent.get("conditions") or ():
            yield Condition(f"{item.get('type')} at {gateway}", states.read(item), info=False)


def _condition(item: Condition) -> str:
    name, state, info = item
    mark = INFO if info and state.is_bad else MARKS[state.status]
    return f"{mark} {name}{STEP if state.text else ''}{state.text}".rstrip()


def _chain(told: Description) -> Iterator[str]:
    """Owners from the top, the object itself, and what hangs below it."""
    above = tuple(reversed(told.owners))
    if not above and not told.node.below:
        return
    for depth, node in enumerate(above):
        yield _link(node, depth)
    yield from _below(told.node, len(above))


def _below(node: Node, depth: int) -> Iterator[str]:
    yield _link(node, depth)
    for item in node.below:
        yield from _below(item, depth + 1)


def _link(node: Node, depth: int) -> str:
    reason = f"{STEP}{node.state.reason}" if node.state.status != "True" else ""
    return f"{MARKS[node.state.status]} {STEP * depth}{node.ref}{reason}".rstrip()


def as_json(told: Description, *, origin: str = "") -> dict[str, Any]:
    """The description for programs, without its findings."""
    cause = told.cause
    return {
        "object": ref_json(told.ref),
        "ready": told.node.state.status or None,
        "reason": told.node.state.reason,
        "message": told.node.state.message,
        "firstCause": cause
        and {
            "object": ref_json(cause.ref),
            "reason": cause.reason,
            "message": cause.message,
            "help": cause.help,
        },
        "paused": told.paused or None,
        "origin": origin,
        "writtenBy": [
            {"manager": item.name, "subresource": item.what, "operation": item.how,
             "time": item.time}
            for item in told.writers
        ],
        "owners": [_node_json(node) for node in told.owners],
        "urls": [{"url": item.text, "for": item.note} for item in told.urls],
        "splits": [
            {"object": ref_json(item.of), "shares": [_share_json(share) for share in item.shares]}
            for item in told.splittings
        ],
        "conditions": [
            {"type": name, "status": state.status, "reason": state.reason,
             "message": state.message}
            for name, state, _ in conditions(told.obj)
        ],
        "below": [_node_json(node) for node in told.node.below],
    }  # fmt: skip


def ref_json(ref: Ref) -> dict[str, str]:
    """An identity for programs."""
    return {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _share_json(share: Share) -> dict[str, Any]:
    return {
        "name": share.name,
        "role": share.role,
        "tag": share.tag,
        "url": share.url,
        "wanted": share.wanted,
        "served": share.served,
        "ready": share.state.status or None,
        "reason": share.state.reason,
    }


def _node_json(node: Node) -> dict[str, Any]:
    return {
        **ref_json(node.ref),
        "ready": node.state.status or None,
        "reason": node.state.reason,
        "message": node.state.message,
        "below": [_node_json(item) for item in node.below],
    }
