"""An upstream without a network: what each host answers is written down, calls are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import orjson

from ingressctl.api import inferencegraphs
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import engine
from ingressctl.dataplane.router.ports import Answer, Headers, Request, StepFailed, Target

JSON = (b"content-type", b"application/json")


class Called(NamedTuple):
    host: str
    path: bytes
    headers: dict[bytes, bytes]
    body: bytes
    until: float | None
    stream: bool
    method: bytes


class Pieces:
    """A stream of an answer that knows whether it was given up."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)
        self.closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self.pieces:
            raise StopAsyncIteration
        return self.pieces.pop(0)

    async def aclose(self) -> None:
        self.closed = True


Script = Any
"""A body (JSON, bytes), an Answer, a StepFailed, seconds to wait before the next one in a
tuple, a function of the call; a list answers one call after the other, the last one stays.
"""


class StandIn:
    """The Upstream of a test."""

    def __init__(self, **hosts: Script) -> None:
        self.hosts = hosts
        self.calls: list[Called] = []
        self.open = 0

    async def call(
        self,
        target: Target,
        headers: Headers,
        body: bytes,
        *,
        until: float | None,
        stream: bool,
        method: bytes = b"POST",
    ) -> Answer:
        called = Called(target.host, target.path, dict(headers), body, until, stream, method)
        self.calls.append(called)
        script = self.hosts[target.host]
        if isinstance(script, list):
            script = script.pop(0) if len(script) > 1 else script[0]
        self.open += 1
        try:
            return await self._play(script, called)
        finally:
            self.open -= 1

    async def _play(self, script: Script, called: Called) -> Answer:
        if isinstance(script, tuple):
            delay, script = script
            await self._wait(delay, called.until)
        if isinstance(script, StepFailed):
            raise script
        if isinstance(script, Callable):
            script = script(called)
        if isinstance(script, Answer):
            return Answer(script.status, list(script.headers), script.body, script.stream)
        if isinstance(script, bytes):
            return Answer(200, [(b"content-type", b"text/plain")], script)
        return Answer(200, [JSON], orjson.dumps(script))

    async def _wait(self, delay: float, until: float | None) -> None:
        loop = asyncio.get_running_loop()
        if until is not None and loop.time() + delay > until:
            await asyncio.sleep(max(0.0, until - loop.time()))
            raise StepFailed("late", "the step did not answer in time", sent=True)
        await asyncio.sleep(delay)

    @property
    def order(self) -> list[str]:
        return [called.host for called in self.calls]


def unreachable() -> StepFailed:
    return StepFailed("unreachable", "the connection was refused", sent=False)


def lost() -> StepFailed:
    return StepFailed("lost", "the step closed the connection early", sent=True)


def failing(status: int, body: Any = None, *headers: tuple[bytes, bytes]) -> Answer:
    text = orjson.dumps({"detail": status} if body is None else body)
    return Answer(status, [JSON, *headers], text)


def graph(root: str, *steps: dict[str, Any], **nodes: Any) -> dict[str, Any]:
    """A graph with a root of that kind; other nodes as (kind, steps); `spec` adds to it."""
    spec = nodes.pop("spec", {})
    made = {name: {"routerType": kind, "steps": inner} for name, (kind, inner) in nodes.items()}
    return {"nodes": {"root": {"routerType": root, "steps": list(steps)}, **made}, **spec}


def step(host: str = "", **fields: Any) -> dict[str, Any]:
    return {**({"serviceUrl": f"http://{host}/v1"} if host else {}), **fields}


def made(
    spec: dict[str, Any], upstream: StandIn, compat: str = "better", **options: Any
) -> engine.GraphEngine:
    options.setdefault("propagate", None)
    return engine.build(
        inferencegraphs.of_raw(spec), upstream=upstream, compat=Compat.parse(compat), **options
    )


def request(body: Any = None, *headers: tuple[bytes, bytes], until: float | None = None) -> Request:
    raw = (
        body
        if isinstance(body, bytes)
        else orjson.dumps({"instances": [1]} if body is None else body)
    )
    return Request(b"POST", b"/", [(b"host", b"g"), JSON, *headers], raw, until)


async def ask(
    spec: dict[str, Any],
    upstream: StandIn,
    body: Any = None,
    *headers: tuple[bytes, bytes],
    compat: str = "better",
    until: float | None = None,
    **options: Any,
) -> Answer:
    """One request through a graph."""
    given = request(body, *headers, until=until)
    return await made(spec, upstream, compat, **options).run(given)


def value(answer: Answer) -> Any:
    return orjson.loads(answer.body)
