"""Watches: the history from a version on, bookmarks, and what tests do to streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable

from aiohttp import web

from tests.apiserver.asking import Asking
from tests.apiserver.statuses import status
from tests.apiserver.store import Objects
from tests.apiserver.table import Place


class Watches:
    """All open streams."""

    def __init__(self, objects: Objects, *, bookmarks: float) -> None:
        self._objects = objects
        self._bookmarks = bookmarks
        self._open: dict[asyncio.Task[object], Place] = {}
        self.stalled = False
        """Streams stay open and nothing comes any more, no bookmark either."""

    def __len__(self) -> int:
        return len(self._open)

    def cut(self, places: Iterable[Place] | None = None) -> None:
        """End streams in the middle."""
        wanted = None if places is None else set(places)
        for task, place in tuple(self._open.items()):
            if wanted is None or place in wanted:
                task.cancel()

    async def serve(self, asking: Asking, answer: web.StreamResponse) -> web.StreamResponse:
        """Feed one stream until somebody ends it."""
        request = asking.request
        answer.enable_chunked_encoding()
        await answer.prepare(request)
        reached = int(request.query.get("resourceVersion") or 0)
        feeding = asyncio.ensure_future(self._feed(answer, asking, reached))
        self._open[feeding] = asking.place
        try:
            await asyncio.wait([feeding])
        finally:
            feeding.cancel()
            self._open.pop(feeding, None)
        if request.transport is not None:
            request.transport.close()  # not a clean end: the stream is cut
        return answer

    async def _feed(self, answer: web.StreamResponse, asking: Asking, reached: int) -> None:
        clock = asyncio.get_running_loop().time
        due = clock() + self._bookmarks
        with contextlib.suppress(ConnectionError):
            while True:
                changed = self._objects.changed
                if not self.stalled:
                    if reached < self._objects.oldest:
                        await answer.write(_line("ERROR", status(410, "too old")))
                        return
                    reached = await self._since(answer, asking, reached)
                if clock() >= due:
                    due = clock() + self._bookmarks
                    await self._bookmark(answer, reached)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), max(0.0, due - clock()))

    async def _since(self, answer: web.StreamResponse, asking: Asking, reached: int) -> int:
        version = self._objects.version
        for event in self._objects.since(reached):
            if event.key[0] == asking.place and asking.namespace in ("", event.key[1]):
                await answer.write(_line(event.type, asking.served(event.obj)))
        return max(reached, version)

    async def _bookmark(self, answer: web.StreamResponse, reached: int) -> None:
        if not self.stalled:
            meta = {"metadata": {"resourceVersion": str(reached)}}
            await answer.write(_line("BOOKMARK", meta))


def _line(kind: str, obj: dict[str, object]) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"
