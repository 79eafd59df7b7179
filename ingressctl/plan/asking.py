"""Which entries a request is asked at: the named one, or every public one that has its host."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ingressctl.core.table import Hop, NoRoute, Request, Table
from ingressctl.plan import addressing, entries
from ingressctl.plan.entries import Doors

Door = tuple[Table, str]
"""An entry, and the table that knows it."""

PORTS = {"http": 80, "https": 443}
"""Where a URL without port leads."""


class UnknownEntry(ValueError):
    """Nobody knows the entry that a person named. Its message is for people."""

    def __init__(self, via: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(set(known) - {""})) or "none"
        super().__init__(f"no object names the entry {via!r}; known are: {names}")


def tried(
    request: Request, via: str, found: tuple[Table, ...], doors: Doors
) -> tuple[list[Door], bool]:
    """The entries to ask; whether only private ones take the request.

    Public ones that have the host, if one of them takes the request or nobody does. Whether
    they listen at its port is judged at each of them: a wrong port makes nothing private.
    A host that no public one has may be a private one's, or a Service's own name.
    """
    request = replace(request, port=0)
    if via:
        return _named(via, found), False
    every = [(table, entry) for table in found for entry in table.entries or ("",)]
    public = [door for door in every if door[1] not in doors.private]
    private = [door for door in every if door[1] in doors.private]
    inside = [door for door in private if _takes(door, request)]
    having = [door for door in public if _has_host(door, request)]
    if inside and not any(_takes(door, request) for door in having):
        return [*inside, *(door for door in public if _refuses(door, request))], True
    held = [door for door in private if _has_host(door, request)]
    if not having and held:
        return held, True
    if not having and addressing.is_service(request, doors.reads):
        return _named(entries.MESH, found), True
    return having or [door for door in public if door[1]], False


def distinct(given: list[Door], request: Request, doors: Doors) -> list[tuple[Door, list[str]]]:
    """The entries to ask, each with those that share its virtual hosts."""
    first: dict[tuple[int, ...], int] = {}
    found: list[tuple[Door, list[str]]] = []
    for table, entry in given:
        hosts = table.candidates(at_door(request, entry, doors))
        shared = tuple(id(virtual_host) for _, virtual_host in hosts)
        if shared and shared in first:
            found[first[shared]][1].append(entry)
            continue
        first[shared] = len(found)
        found.append(((table, entry), []))
    return found


def _has_host(door: Door, request: Request) -> bool:
    table, entry = door
    return next(table.candidates(replace(request, entry=entry)), None) is not None


def _takes(door: Door, request: Request) -> bool:
    table, entry = door
    return isinstance(table.answer(replace(request, entry=entry)), Hop)


def _refuses(door: Door, request: Request) -> bool:
    """Whether objects have the host and would be at the entry, had it let them."""
    table, entry = door
    answer = table.answer(replace(request, entry=entry))
    return isinstance(answer, NoRoute) and not answer.virtual_host and bool(answer.losers)


def _named(via: str, found: tuple[Table, ...]) -> list[Door]:
    """The tables that know the entry, else the first one of its kind."""
    word, name = entries.parse_via(via)
    fitting = [
        table for table in found if not word or (table.provider == "ingress") == (word == "ingress")
    ]
    known = [table for table in fitting if name in table.entries]
    return [(table, name) for table in known or fitting[:1]]


def knows(via: str, found: Iterable[Table], doors: Doors) -> bool:
    """Whether a table or the configuration has the entry that is named."""
    _, name = entries.parse_via(via)
    return name in doors.named or any(name in table.entries for table in found)


def at_door(request: Request, entry: str, doors: Doors) -> Request:
    """The request at the entry, by the port of its URL or of its scheme.

    A private entry is reached by a Service, whose port need not be the listener's.
    """
    if entry in doors.private:
        return replace(request, entry=entry, port=0)
    return replace(request, entry=entry, port=request.port or PORTS[request.scheme])
