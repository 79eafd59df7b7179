"""Whatever becomes of a request, nothing of it waits for the search for circles.

An error keeps the frames that it came through; a frame that keeps the error in turn keeps
the bodies of its request as well, until somebody looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import types

import pytest

from ingressctl.api.inferencegraphs import of_raw
from ingressctl.core.differences import BETTER
from ingressctl.dataplane.router import engine
from ingressctl.dataplane.router.ports import Engine, Request, StepFailed
from ingressctl.dataplane.router.upstream import Client
from tests.soak import steps
from tests.soak.test_router import ALLOWED, graph


async def asked(graph: Engine, kind: str) -> None:
    until = asyncio.get_running_loop().time() + 10
    body = f'{{"kind":"{kind}"}}'.encode()
    answer = await graph.run(Request(b"POST", b"/", (), body, until))
    if answer.stream is not None:
        with contextlib.suppress(StepFailed):
            async for _ in answer.stream:
                pass


@pytest.mark.parametrize("kind", list(ALLOWED))
async def test_no_fate_of_a_request_leaves_a_circle(kind: str) -> None:
    async with steps.running() as served:
        client = Client()
        made = engine.build(
            of_raw(graph(served.ports)), propagate=None, upstream=client, compat=BETTER
        )
        for _ in range(3):
            await asked(made, kind)
        await asyncio.sleep(0.2)
        gc.collect()
        gc.disable()
        try:
            for _ in range(10):
                await asked(made, kind)
            await asyncio.sleep(0.2)
            left = frames_left()
        finally:
            gc.enable()
        client.close()
    assert left == []


def frames_left() -> list[str]:
    """Functions of the router whose frames only a search has found."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
    finally:
        gc.set_debug(0)
    codes = [found.f_code for found in gc.garbage if isinstance(found, types.FrameType)]
    gc.garbage.clear()
    return [code.co_qualname for code in codes if "dataplane" in code.co_filename]
