"""The key `router` of a field case: requests to the router that is rendered for its graph.

suites/field/README.md has the table. A field that is not in it is a failure.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from ingressctl.api import inferencegraphs
from ingressctl.api.refs import ref_of
from ingressctl.core.differences import Compat
from ingressctl.core.world import World
from tests.cases import comparing, field_state
from tests.cases.field_state import State
from tests.cases.router import field_expecting, hurrying, serving, wires
from tests.cases.router.directed import Directed
from tests.cases.router.field_expecting import Seen
from tests.cases.router.field_stubs import Stubs, payload
from tests.cases.router.identities import Identity

KEYS = frozenset("stubs requests rest stop".split())
OF_REQUEST = frozenset("name send expect repeat concurrency stubs graph sidecar".split())
OF_SEND = frozenset("method path headers body bodyBase64".split())
LONG = 10.0
"""A delay from which on the clock of the case is hurried."""
HURRY = 25.0


class Rendered(NamedTuple):
    """What the router of a graph is started with."""

    graph: dict[str, Any]
    environment: dict[str, str]


def judge(written: Mapping[str, Any], state: State, compat: Compat) -> list[str]:
    """Every request of the case that does not end as it should."""
    known(written, KEYS, "router")
    faults: list[str] = []
    for request in written["requests"]:
        known(request, OF_REQUEST, "request")
        known(request["send"], OF_SEND, "send")
        stubs = {**(written.get("stubs") or {}), **(request.get("stubs") or {})}
        loop = functools.partial(hurrying.Loop, _pace(stubs))
        with asyncio.Runner(loop_factory=loop) as runner:
            found = runner.run(_request(request, stubs, _rendered(request, state), compat))
        faults += [f"{request['name']}: {fault}" for fault in found]
    return faults


def known(written: Mapping[str, Any], keys: frozenset[str], what: str) -> None:
    """Raises ValueError for a field that is in no table."""
    unknown = set(written) - keys
    if unknown:
        raise ValueError(f"{what} has no field {sorted(unknown)}")


def _pace(stubs: Mapping[str, Any]) -> float:
    longest = max((stub.get("delaySeconds") or 0 for stub in stubs.values()), default=0)
    return HURRY if longest > LONG else 1.0


def _rendered(request: Mapping[str, Any], state: State) -> Rendered:
    """The configuration of the router of the only graph, or of the request's own."""
    if "graph" in request:
        own = comparing.documents(request["graph"])
        others = [obj for obj in state.before if ref_of(obj)[:2] != inferencegraphs.KIND]
        world = World.of([*others, *own])
        state = field_state.settle("request", world, state.settings, workloads=True)
    (rendered,) = rendered_of(state)
    return rendered


def rendered_of(state: State) -> Iterator[Rendered]:
    """What the routers of all graphs of a state are started with."""
    for step in state.cascade.steps:
        for child in step.outcome.children:
            template = (child.body.get("spec") or {}).get("template") or {}
            for item in (template.get("spec") or {}).get("containers") or ():
                if (item.get("args") or [""])[0] == "--graph-json":
                    variables = {entry["name"]: entry["value"] for entry in item.get("env") or ()}
                    yield Rendered(json.loads(item["args"][1]), variables)


async def _request(
    request: Mapping[str, Any], stubs: Mapping[str, Any], rendered: Rendered, compat: Compat
) -> list[str]:
    identity = Identity.of(stubs)
    steps = Stubs(dict(stubs), identity.serves)
    await steps.start()
    try:
        async with _mesh(there=bool(request.get("sidecar"))) as mesh_port:
            client = Directed(steps.ports, mesh_port=mesh_port, context=identity.trusts)
            async with serving.router(*rendered, compat, client=client) as port:
                answers = await sent(request, port)
        return list(field_expecting.faults(request["expect"], answers, steps))
    finally:
        await steps.stop()


@asynccontextmanager
async def _mesh(*, there: bool) -> AsyncIterator[int]:
    """The administration port of a sidecar; nothing listens on it if there is none."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await wires.head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    if not there:
        server.close()
    try:
        yield port
    finally:
        server.close()


async def sent(request: Mapping[str, Any], port: int) -> list[Seen]:
    """Send the request as often as it says; connections are used again."""
    left = iter(range(int(request.get("repeat") or 1)))
    answers: list[Seen] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for _ in left:
                writer.write(message(request["send"]))
                answers.append(await _answer(reader))
        finally:
            writer.close()

    clients = int(request.get("concurrency") or min(8, int(request.get("repeat") or 1)))
    await asyncio.gather(*(client() for _ in range(clients)))
    return answers


def message(send: Mapping[str, Any]) -> bytes:
    """A request as bytes."""
    body = payload(send)
    fields = {"Host": "graph", **(send.get("headers") or {}), "Content-Length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{send['method']} {send['path']} HTTP/1.1\r\n{lines}\r\n".encode() + body


async def _answer(reader: asyncio.StreamReader) -> Seen:
    clock = asyncio.get_running_loop().time
    head = await wires.head(reader)
    if head is None:
        raise ConnectionError("the connection ended without an answer")
    if (head.one("Transfer-Encoding") or "") != "chunked":
        return Seen(head, await wires.body(reader, head), [])
    pieces, moments = [], []
    async for piece in wires.chunks(reader):
        pieces.append(piece)
        moments.append(clock())
    return Seen(head, b"".join(pieces), moments)
