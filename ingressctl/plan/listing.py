"""Routes as rows: a line for each backend of each rule of each host, as a proxy would see it.

Read back from the objects that exist, whoever wrote them, like every answer about routes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ingressctl.api.refs import Ref
from ingressctl.core.model import HeaderMatch, Redirect, Service, Split
from ingressctl.core.table import Refusal, Table, TableMatch, TableRule, VirtualHost
from ingressctl.core.world import Reads
from ingressctl.plan import states
from ingressctl.plan.host_tables import HostTables

NONE = "<none>"
UNKNOWN = "<unknown>"
EVERY_PATH = frozenset(("^/.*$", "/.*", ".*", "^.*$"))
"""Expressions that say the same as no path at all."""


HOST = frozenset((":authority", "host"))
"""Headers that say once more what the column HOST says."""


@dataclass(frozen=True, slots=True)
class Row:
    """One backend of one rule at one host. `weight` None: nothing gets there.

    `ready` is True, False or unknown, as the object or its gateway says.
    """

    source: Ref
    host: str
    rule: str
    backend: str
    weight: float | None
    provider: str
    ready: str
    entries: tuple[str, ...]
    reason: str = ""
    """Why no entry takes it, or why its backend cannot be reached."""

    @property
    def percent(self) -> str:
        """The weight as a number of percent."""
        return NONE if self.weight is None else f"{self.weight * 100:g}"


def tables(reads: Reads, carried: tuple[Table, ...] = ()) -> tuple[Table, ...]:
    """Every table of a world."""
    return HostTables(reads, carried).everything()


def rows(
    found: Iterable[Table], reads: Reads, *, wanted: Callable[[Ref], bool] = lambda _: True
) -> tuple[Row, ...]:
    """The rows of the objects that are `wanted`, by namespace, host and order of the rules."""
    merged: dict[tuple[Ref, str, str, str], Row] = {}
    for table in found:
        for row in (*_served(table, reads, wanted), *_refused(table, wanted)):
            key = (row.source, row.host, row.rule, row.backend)
            before = merged.get(key)
            merged[key] = row if before is None else _joined(before, row)
    return tuple(sorted(merged.values(), key=lambda row: (row.source.namespace, row.host)))


def _joined(one: Row, other: Row) -> Row:
    """The same rule at another entry; one that some entry takes is not refused."""
    kept = other if one.reason and not other.reason else one
    entries = tuple(dict.fromkeys((*one.entries, *other.entries)))
    return Row(
        kept.source,
        kept.host,
        kept.rule,
        kept.backend,
        kept.weight,
        kept.provider,
        kept.ready,
        entries,
        kept.reason,
    )


def _served(table: Table, reads: Reads, wanted: Callable[[Ref], bool]) -> Iterator[Row]:
    for virtual_host in table.hosts:
        for rule in virtual_host.rules:
            if wanted(rule.source):
                yield from _of_rule(table.provider, virtual_host, rule, reads)


def _of_rule(
    provider: str, virtual_host: VirtualHost, rule: TableRule, reads: Reads
) -> Iterator[Row]:
    ready = _ready(rule.source, reads)
    bad = {item.split: item for item in rule.refused}
    for host in virtual_host.hosts:
        where = (rule.source, host or "*", matches(rule))
        for split, share in rule.shares():
            lost = bad.get(split)
            name = backend(split, rule.source)
            yield Row(
                *where,
                name,
                share,
                provider,
                "False" if lost else ready,
                virtual_host.entries,
                lost.reason if lost else "",
            )
        if not rule.shares():
            yield Row(*where, _answer(rule), None, provider, ready, virtual_host.entries)


def _refused(table: Table, wanted: Callable[[Ref], bool]) -> Iterator[Row]:
    for refusal in table.refusals:
        if wanted(refusal.source):
            yield from _of_refusal(table.provider, refusal)


def _of_refusal(provider: str, refusal: Refusal) -> Iterator[Row]:
    entries = (refusal.entry,) if refusal.entry else ()
    for host in refusal.hosts or ("*",):
        yield Row(
            refusal.source, host, NONE, NONE, None, provider, "False", entries, refusal.reason
        )


def _ready(source: Ref, reads: Reads) -> str:
    obj = reads.get(source)
    return (states.of(obj).status if obj is not None else "") or UNKNOWN


def _answer(rule: TableRule) -> str:
    """What a rule without backends answers."""
    redirect = next((item for item in rule.filters if isinstance(item, Redirect)), None)
    return f"redirect:{redirect.status}" if redirect else f"status:{rule.status}"


def backend(split: Split, source: Ref) -> str:
    """``name:port``, with the namespace where it is another one than the route's."""
    target = split.target
    port = f":{split.port}" if split.port else ""
    if not isinstance(target, Service):
        return f"{target.host}{port}"
    place = "" if target.namespace == source.namespace else f".{target.namespace}"
    return f"{target.name}{place}{port}"


def matches(rule: TableRule) -> str:
    """The first match in one word without blanks, and how many more there are."""
    first, *rest = rule.matches or (None,)
    text = match(first) if first else "/*"
    return f"{text}+{len(rest)}" if rest else text


def match(found: TableMatch) -> str:
    """``POST:/v1/models/*,x-user=me``; a trailing star stands for what may follow."""
    inner = found.match
    method = f"{inner.method}:" if inner.method else ""
    parts = [_header(item) for item in (*inner.headers, *found.query) if item.name not in HOST]
    parts += [f"!{_header(item)}" for item in found.without]
    return "".join(f"{method}{','.join([_path(found), *parts])}".split())


def _path(found: TableMatch) -> str:
    path = found.match.path
    if path is None:
        return "/*"
    if path.kind == "regex":
        return "/*" if path.value in EVERY_PATH else f"~{path.value}"
    if path.kind == "exact":
        return path.value
    if path.value.endswith("/") or found.prefix == "character":
        return f"{path.value}*"
    return f"{path.value}/*"


def _header(item: HeaderMatch) -> str:
    sign = {"exact": "=", "regex": "~", "prefix": "^", "present": ""}[item.kind]
    return f"{item.name}{sign}{item.value}"
