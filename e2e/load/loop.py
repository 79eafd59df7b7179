"""An event loop beside the test, so that traffic goes on whatever the test waits for."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

Value = TypeVar("Value")

SECONDS = 60


class Loop:
    """Use as a context manager: all that still runs in it is cancelled at its end."""

    def __enter__(self) -> Loop:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="load", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.run(_cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()

    def begin(self, work: Coroutine[Any, Any, Value]) -> concurrent.futures.Future[Value]:
        """Let it go on beside the caller."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Value], *, seconds: float = SECONDS) -> Value:
        """What comes of it. Raises what it raises, and TimeoutError."""
        return self.begin(work).result(seconds)


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
