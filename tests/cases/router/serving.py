"""The router of a case, in this process: the parts that the command puts together."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ingressctl.api import inferencegraphs
from ingressctl.api.admission import graphs
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import engine, propagation, settings
from ingressctl.dataplane.router.server import Server
from ingressctl.dataplane.router.upstream import Client


def refusals(graph: dict[str, Any], compat: Compat) -> list[str]:
    """Why the router does not start with the graph."""
    spec = inferencegraphs.of_raw(graph)
    return [refusal.message for refusal in graphs.refusals(spec, differs=compat.differs)]


def warnings(graph: dict[str, Any], compat: Compat) -> list[str]:
    """What the router says of the graph when it starts."""
    spec = inferencegraphs.of_raw(graph)
    return [warning.message for warning in graphs.warnings(spec, differs=compat.differs)]


@asynccontextmanager
async def router(
    graph: dict[str, Any],
    environment: dict[str, str],
    compat: Compat,
    *,
    client: Client | None = None,
) -> AsyncIterator[int]:
    """A router that serves the graph; its port."""
    unknown = set(environment) - {"PROPAGATE_HEADERS"}
    assert not unknown, f"env: unknown names {sorted(unknown)}"
    spec = inferencegraphs.of_raw(graph)
    client = client or Client()
    made = engine.build(
        spec,
        propagate=propagation.of_environment(environment.get("PROPAGATE_HEADERS"), compat),
        upstream=client,
        compat=compat,
    )
    server = Server(made, settings.of_graph(spec, compat, max_request_bytes=None))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.listen(sock)
    try:
        yield sock.getsockname()[1]
    finally:
        await server.drain(within=5)
        client.close()
