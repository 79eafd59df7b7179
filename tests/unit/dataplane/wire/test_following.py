"""The file of a graph is looked at for as long as the process lives, and nobody waits for it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ingressctl.core.differences import BETTER
from ingressctl.dataplane.router import engine, graphs, serving
from tests.unit.dataplane.wire.programs import graph
from tests.unit.dataplane.wire.sockets import Raw

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


def put(file: Path, path: str) -> bytes:
    text = json.dumps(graph(1, path))
    file.with_name("new").write_text(text)
    os.replace(file.with_name("new"), file)
    return text.encode()


class Built:
    """Builds engines, and tells of which paths; the one of /bad breaks."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, spec: Any, **ports: Any) -> Any:
        path = spec.nodes["root"].steps[0].serviceUrl.rpartition("/")[2]
        self.paths.append(path)
        if path == "bad":
            raise RuntimeError("nobody thought of this")
        return engine.build(spec, propagate=None, compat=BETTER, **ports)

    async def until(self, *paths: str) -> None:
        async with asyncio.timeout(30):
            while self.paths != list(paths):
                await asyncio.sleep(0.01)


@asynccontextmanager
async def following(file: Path, build: Built) -> AsyncIterator[int]:
    """A process in this one; the port of it."""
    spec = graphs.parse(put(file, "/one"), BETTER, name="graph").spec
    taken = socket.create_server(("127.0.0.1", 0))
    plan = serving.Plan(spec, build, BETTER, file=file)
    process = serving.Process(plan, serving.Sockets(taken))
    running = asyncio.create_task(process.run())
    await build.until("one")
    yield taken.getsockname()[1]
    process._signals.put_nowait(signal.SIGINT)
    await running


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "LOOK", 0.02)


async def test_whatever_a_graph_breaks_the_next_one_is_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build = Built()
    with caplog.at_level(logging.ERROR, "ingressctl.router"):
        async with following(tmp_path / "graph.json", build):
            put(tmp_path / "graph.json", "/bad")
            await build.until("one", "bad")
            await asyncio.sleep(0.1)  # it is looked at again meanwhile
            put(tmp_path / "graph.json", "/two")
            await build.until("one", "bad", "two")
    (record,) = caplog.records
    assert record.getMessage() == "the new graph is refused, the old one stays"


async def test_requests_are_answered_while_a_graph_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, answered, parse = threading.Event(), threading.Event(), graphs.parse
    waited: list[bool] = []

    def slowly(*args: Any, **more: Any) -> graphs.Graph:
        reading.set()
        waited.append(answered.wait(5))
        return parse(*args, **more)

    build = Built()
    file = tmp_path / "graph.json"
    async with following(file, build) as port, await Raw.to(port) as client:
        client.send(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        await client.answer()  # the read at the start is over
        monkeypatch.setattr(graphs, "parse", slowly)
        put(file, "/two")
        async with asyncio.timeout(30):
            while not reading.is_set():
                await asyncio.sleep(0.01)
        client.send(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await client.answer())[0] == 200
        answered.set()
        await build.until("one", "two")
    assert waited == [True]
