"""The yardstick: the same graphs as a plain aiohttp program, as one would write it in an hour.

``python -m tests.bench.router.plain SHAPE PORT STUB_PORT``.
"""

from __future__ import annotations

import asyncio
import random
import sys

import aiohttp
import orjson
import uvloop
from aiohttp import web

STEPS = 3
TYPE = "application/json"


class Router:
    def __init__(self, shape: str, stub: int) -> None:
        self.shape = shape
        self.url = f"http://127.0.0.1:{stub}/v1/models/m:predict"

    async def start(self, app: web.Application) -> None:
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def step(self, body: bytes) -> bytes:
        async with self.session.post(self.url, data=body, headers={"Content-Type": TYPE}) as answer:
            return await answer.read()

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        return web.Response(body=await getattr(self, self.shape)(body), content_type=TYPE)

    async def sequence(self, body: bytes) -> bytes:
        for _ in range(STEPS):
            body = await self.step(body)
        return body

    async def ensemble(self, body: bytes) -> bytes:
        answers = await asyncio.gather(*(self.step(body) for _ in range(STEPS)))
        return orjson.dumps({f"s{at}": orjson.loads(answer) for at, answer in enumerate(answers)})

    async def splitter(self, body: bytes) -> bytes:
        random.randrange(100)
        return await self.step(body)

    async def switch(self, body: bytes) -> bytes:
        assert orjson.loads(body)["instances"]
        return await self.step(body)


async def main(shape: str, port: int, stub: int) -> None:
    router = Router(shape, stub)
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/{path:.*}", router.handle)
    app.on_startup.append(router.start)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
