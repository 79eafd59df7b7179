"""The columns of `get`, kind by kind: those that users know from each kind's own definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ingressctl.api.inferenceservices import KIND as INFERENCE_SERVICE
from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.world import Kind
from ingressctl.plan import states
from ingressctl.plan.kindnames import KNATIVE
from ingressctl.plan.listing import NONE, UNKNOWN, Row

UNSET = "<unset>"

Cell = Callable[[Raw], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A title without blanks, and what stands below it."""

    title: str
    cell: Cell
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for people: titles, and rows of as many words."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def of_objects(objects: Iterable[Raw], *, now: datetime, everywhere: bool, wide: bool) -> Sheet:
    """The table of objects of one kind."""
    found = tuple(objects)
    kind = ref_of(found[0])[:2] if found else ("", "")
    columns = [item for item in _COLUMNS.get(kind, _COMMON) if wide or not item.wide]
    places = ("NAMESPACE",) if everywhere else ()
    return Sheet(
        (*places, "NAME", *(item.title for item in columns), "AGE"),
        tuple(tuple(_cells(obj, columns, now, everywhere=everywhere)) for obj in found),
    )


def _cells(
    obj: Raw, columns: Iterable[Column], now: datetime, *, everywhere: bool
) -> Iterator[str]:
    ref = ref_of(obj)
    if everywhere:
        yield ref.namespace or NONE
    yield ref.name
    yield from (word(item.cell(obj)) for item in columns)
    yield age((obj.get("metadata") or {}).get("creationTimestamp"), now)


def of_routes(rows: Iterable[Row], *, everywhere: bool, wide: bool) -> Sheet:
    """The table of routes; `wide` adds where they are served and which object they are from."""
    places = ("NAMESPACE",) if everywhere else ()
    more = ("ENTRY", "OBJECT") if wide else ()
    titles = (*places, "HOST", "RULE", "BACKEND", "WEIGHT", "PROVIDER", "READY", *more)
    return Sheet(titles, tuple(tuple(_row(row, everywhere, wide)) for row in rows))


def _row(row: Row, everywhere: bool, wide: bool) -> Iterator[str]:
    if everywhere:
        yield row.source.namespace or NONE
    yield from (row.host, row.rule, row.backend, row.percent, row.provider, row.ready)
    if wide:
        yield ",".join(row.entries) or NONE
        yield f"{row.source.kind}/{row.source.name}"


def word(value: Any) -> str:
    """A value as one word of a table."""
    if value is None or value == "":
        return UNSET
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or NONE
    return str(value)


def age(created: Any, now: datetime) -> str:
    """``5d``, ``3h20m``, ``45s``: how long ago, as kubectl rounds it."""
    try:
        then = datetime.fromisoformat(str(created).replace("Z", "+00:00"))
    except ValueError:
        return UNKNOWN
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return span(max(0, int((now - then).total_seconds())))


def span(seconds: int) -> str:
    """A length of time in two units at most."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if days < 2:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    return f"{days}d" if days < 730 else f"{days // 365}y"


def _status(*path: str) -> Cell:
    def cell(obj: Raw) -> Any:
        value: Any = obj.get("status") or {}
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    return cell


def _traffic(field: str, *, previous: bool) -> Cell:
    """A field of the entry of the predictor's traffic that is tagged prev, or the latest."""

    def cell(obj: Raw) -> Any:
        entries = _status("components", "predictor", "traffic")(obj) or ()
        for entry in entries:
            if entry.get("tag") == "prev" if previous else entry.get("latestRevision") is True:
                return entry.get(field)
        return None

    return cell


def _ready(obj: Raw) -> str:
    return states.of(obj).status or UNKNOWN


def _reason(obj: Raw) -> str:
    return states.of(obj).reason


_COMMON = (Column("READY", _ready), Column("REASON", _reason))

_COLUMNS: Mapping[Kind, tuple[Column, ...]] = {
    INFERENCE_SERVICE: (
        Column("URL", _status("url")),
        Column("READY", _ready),
        Column("PREV", _traffic("percent", previous=True)),
        Column("LATEST", _traffic("percent", previous=False)),
        Column("PREVROLLEDOUTREVISION", _traffic("revisionName", previous=True)),
        Column("LATESTREADYREVISION", _traffic("revisionName", previous=False)),
    ),
    ("serving.kserve.io", "InferenceGraph"): (
        Column("URL", _status("url")),
        Column("READY", _ready),
    ),
    (KNATIVE, "Service"): (
        Column("URL", _status("url")),
        Column("LATESTCREATED", _status("latestCreatedRevisionName")),
        Column("LATESTREADY", _status("latestReadyRevisionName")),
        *_COMMON,
    ),
    (KNATIVE, "Route"): (Column("URL", _status("url")), *_COMMON),
    (KNATIVE, "Configuration"): (
        Column("LATESTCREATED", _status("latestCreatedRevisionName")),
        Column("LATESTREADY", _status("latestReadyRevisionName")),
        *_COMMON,
    ),
    (KNATIVE, "Revision"): (
        *_COMMON,
        Column("ACTUALREPLICAS", _status("actualReplicas"), wide=True),
        Column("DESIREDREPLICAS", _status("desiredReplicas"), wide=True),
    ),
}
