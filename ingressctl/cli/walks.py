"""A walk through a graph as text and as JSON; `explain -d` asks for one."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from ingressctl.cli import suggesting
from ingressctl.cli.output import safe
from ingressctl.cli.problems import CommandFault
from ingressctl.cli.router import patterns
from ingressctl.core.differences import Compat
from ingressctl.core.table import Request
from ingressctl.dataplane.router import ports, walking
from ingressctl.dataplane.router.walking import Behind, Event, Graph, Stub, Walk
from ingressctl.plan.graphs import Runnable

SHOWN = 2000
"""Bytes of a body that the text shows; JSON has all."""


@dataclass(frozen=True, slots=True)
class Body:
    """What goes through the steps of a graph, and how they are stood in for."""

    data: Annotated[
        str | None,
        typer.Option(
            "-d",
            "--data",
            metavar="BODY",
            help="Body, or @FILE: goes through the steps of an InferenceGraph.",
        ),
    ] = None
    answer: Annotated[
        list[str],
        typer.Option(
            "--answer",
            metavar="STEP=BODY",
            help="What a step (or NODE.STEP, GRAPH/NODE.STEP) answers: BODY, @FILE, STATUS, "
            "STATUS:BODY, or down (repeat) [default: what a model of its protocol would].",
        ),
    ] = field(default_factory=list)
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="For the choice of a Splitter.")
    ] = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """The same, read. `seed` is for the choice of a Splitter."""

    body: bytes
    answers: Mapping[str, Stub]
    seed: int


def trial(given: Body) -> Trial | None:
    """What is to be tried; None without a body. Raises CommandFault."""
    if given.data is not None:
        return Trial(body(given.data), stubs(given.answer), given.seed)
    if given.answer:
        raise CommandFault.of(
            "--answer is about the steps of a graph, which are asked with a body", "add -d BODY"
        )
    return None


def body(text: str, *, flag: str = "-d") -> bytes:
    """A BODY, or that of @FILE. Raises CommandFault."""
    if not text.startswith("@"):
        return text.encode()
    try:
        return Path(text[1:]).read_bytes()
    except OSError as fault:
        raise CommandFault.of(
            f"{flag} {text}: the file cannot be read: {fault.strerror}",
            "name a file, or write the body",
        ) from None


def stubs(texts: Iterable[str]) -> dict[str, Stub]:
    """``--answer STEP=BODY``, ``STEP=STATUS``, ``STEP=STATUS:BODY``. Raises CommandFault."""
    found = {}
    for text in texts:
        name, equals, answer = text.partition("=")
        if not equals or not name:
            raise CommandFault.of(
                f"--answer cannot be {text!r}", "write STEP=BODY, STEP=STATUS or STEP=STATUS:BODY"
            )
        found[name] = _stub(answer)
    return found


def _stub(answer: str) -> Stub:
    status, colon, rest = answer.partition(":")
    if status == "down" and not colon:
        return Stub(0)
    if _STATUS.fullmatch(status):
        return Stub(int(status), body(rest, flag="--answer") if colon else None)
    return Stub(200, body(answer, flag="--answer"))


_STATUS = re.compile(r"[1-5]\d\d")


def check_names(answers: Iterable[str], met: Iterable[Graph], behind: Behind) -> None:
    """Every answer is one of some step. Raises CommandFault."""
    known = {name for graph in met for name in walking.known(graph, behind)}
    for name in answers:
        if name not in known:
            raise CommandFault.of(
                f"--answer {name}: no step is called so", suggesting.or_one_of(name, sorted(known))
            )


def graph(ready: Runnable, compat: Compat) -> Graph:
    """As its router runs it. Raises CommandFault where that would not start with the
    PROPAGATE_HEADERS it has."""
    return Graph(str(ready.ref), ready.spec, patterns(ready.propagate, compat))


def walk(graph: Graph, request: Request, trial: Trial, *, compat: Compat, behind: Behind) -> Walk:
    """What the router of a graph would do with a request."""
    method, path = request.method.encode(), request.path.encode()
    headers = [
        (name.encode("latin-1", "replace"), text.encode("latin-1", "replace"))
        for name, text in request.headers.items()
    ]
    return walking.walk(
        graph,
        ports.Request(method, path, headers, trial.body),
        trial.answers,
        compat=compat,
        chance=random.Random(trial.seed).random,
        behind=behind,
    )


def lines(graph: str, walk: Walk, *, trace: bool) -> Iterator[str]:
    """The steps in their order; with `trace` also headers of calls."""
    yield f"{graph}, step by step (stubs answer):"
    for event in walk.events:
        yield from (f"  {line}" for line in _event(event, trace=trace))
    status = walking.phrase(walk.status) if walk.status else "the connection ends without one"
    yield f"  answer   {status}  {_shown(walk.body)}".rstrip()


def as_json(graph: str, walk: Walk) -> dict[str, Any]:
    """All of it."""
    return {
        "graph": graph,
        "events": [_event_json(event) for event in walk.events],
        "status": walk.status,
        "body": _text(walk.body),
    }


def _event(event: Event, *, trace: bool) -> Iterator[str]:
    place = f"{event.node}.{event.step}"
    if event.kind != "called":
        yield f"{event.kind:8} {place}: {event.text}"
        return
    yield f"called   {place}: {event.text}"
    if trace:
        yield from (f"  header {name}: {value}" for name, value in event.headers)
    yield f"  got    {_shown(event.given)}".rstrip()
    if event.graph:
        yield f"  within {event.graph}:"
        for inner in event.within:
            yield from (f"    {line}" for line in _event(inner, trace=trace))
    gave = walking.phrase(event.status) if event.status else "nothing, for nobody is there"
    yield f"  gave   {gave}  {_shown(event.got)}".rstrip()


def _event_json(event: Event) -> dict[str, Any]:
    told = {"kind": event.kind, "node": event.node, "step": event.step}
    if event.kind != "called":
        return {**told, "why": event.text}
    return {
        **told,
        "url": event.text,
        "headers": dict(event.headers),
        "got": _text(event.given),
        "gave": {"status": event.status, "body": _text(event.got)},
        **(_within_json(event) if event.graph else {}),
    }


def _within_json(event: Event) -> dict[str, Any]:
    events = [_event_json(inner) for inner in event.within]
    return {"within": {"graph": event.graph, "events": events}}


def _shown(raw: bytes) -> str:
    """On one line, whatever is in it."""
    text = safe(" ".join(_text(raw).split()))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(raw)} bytes)"


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return json.dumps(raw.decode("latin-1"))[1:-1]
