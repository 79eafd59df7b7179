"""Which entries a request is asked at: the named one, or every public one that has its host."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ingressctl.core.table import Hop, Request, Table
from ingressctl.plan import entries
from ingressctl.plan.entries import Doors

Door = tuple[Table, str]
"""An entry, and the table that knows it."""


class UnknownEntry(ValueError):
    """Nobody knows the entry that a person named. Its message is for people."""

    def __init__(self, via: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(set(known) - {""})) or "none"
        super().__init__(f"no object names the entry {via!r}; known are: {names}")


def tried(
    request: Request, via: str, found: tuple[Table, ...], doors: Doors
) -> tuple[list[Door], bool]:
    """The entries to ask; whether only private ones take the request.

    Public ones that have the host, if one of them takes the request or nobody does.
    """
    if via:
        return _named(via, found), False
    every = [(table, entry) for table in found for entry in table.entries or ("",)]
    public = [door for door in every if door[1] not in doors.private]
    inside = [door for door in every if door[1] in doors.private and _takes(door, request)]
    having = [door for door in public if _has_host(door, request)]
    if inside and not any(_takes(door, request) for door in having):
        return inside, True
    return having or [door for door in public if door[1]], False


def distinct(given: list[Door], request: Request) -> list[tuple[Door, list[str]]]:
    """The entries to ask, each with those that share its virtual hosts."""
    first: dict[tuple[int, ...], int] = {}
    found: list[tuple[Door, list[str]]] = []
    for table, entry in given:
        hosts = table.candidates(replace(request, entry=entry))
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


def at_known_port(request: Request, found: tuple[Table, ...]) -> Request:
    """The request at its port, if a gateway listens there; else at whichever it has.

    A URL names the port of a Service or load balancer, which need not be the listener's.
    """
    ports = {port for table in found for host in table.hosts for port in host.ports}
    return request if request.port in ports else replace(request, port=0)
