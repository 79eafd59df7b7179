"""A walk through a graph as text and as JSON; `explain -d` asks for one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingressctl.api.inferencegraphs import Spec
from ingressctl.cli.output import safe
from ingressctl.cli.problems import CommandFault
from ingressctl.core.differences import Compat
from ingressctl.core.table import Request
from ingressctl.dataplane.router import ports, walking
from ingressctl.dataplane.router.walking import Event, Stub, Walk

SHOWN = 2000
"""Bytes of a body that the text shows; JSON has all."""


def body(text: str) -> bytes:
    """``-d BODY``, or ``-d @FILE``. Raises CommandFault."""
    if not text.startswith("@"):
        return text.encode()
    try:
        return Path(text[1:]).read_bytes()
    except OSError as fault:
        raise CommandFault.of(
            f"-d {text}: the file cannot be read: {fault.strerror}",
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
    if status.isascii() and status.isdigit() and len(status) == 3:
        return Stub(int(status), body(rest) if colon else None)
    return Stub(200, body(answer))


def walk(
    spec: Spec,
    request: Request,
    given: bytes,
    answers: Mapping[str, Stub],
    *,
    compat: Compat,
    propagate: list[str] | None,
    seed: int,
) -> Walk:
    """What the router of a graph would do with a request."""
    headers = [
        (name.encode("latin-1", "replace"), text.encode("latin-1", "replace"))
        for name, text in request.headers.items()
    ]
    return walking.walk(
        spec,
        ports.Request(request.method.encode(), request.path.encode(), headers, given),
        answers,
        compat=compat,
        propagate=propagate,
        chance=random.Random(seed).random,
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
    }


def _shown(raw: bytes) -> str:
    """On one line, whatever is in it."""
    text = safe(" ".join(_text(raw).split()))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(raw)} bytes)"


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return json.dumps(raw.decode("latin-1"))[1:-1]
