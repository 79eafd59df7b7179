"""One line of JSON for each request, on standard output; where no step has answered, why.

Lines are written together, some times a second: a system call for each would cost more than
the line.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from typing import BinaryIO

import orjson

from ingressctl.dataplane.router.ports import Request
from ingressctl.dataplane.router.server import Watcher

EVERY = 0.2
AT_ONCE = 65_536
"""Bytes that are not kept waiting."""


class AccessLog:
    """A watcher that writes, and tells another one."""

    def __init__(self, then: Watcher, out: BinaryIO | None = None) -> None:
        self._then = then
        self._out = out or sys.stdout.buffer
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None

    def begun(self) -> None:
        """A request is there."""
        self._then.begun()

    def ended(
        self, request: Request, status: int, size: int, seconds: float, cause: str = ""
    ) -> None:
        """It was answered; a status of 0 tells that the client had left."""
        self._then.ended(request, status, size, seconds, cause)
        sizes = {"bytes_in": len(request.body), "bytes_out": size, "seconds": round(seconds, 6)}
        why = {"cause": cause} if cause else {}
        asked, names = _asked(request), _names(request)
        self._write({"ts": _now(), **asked, "status": status, **why, **sizes, **names})

    def refused(self, status: int, cause: str, request: Request | None = None) -> None:
        """It was not taken for the graph."""
        self._then.refused(status, cause, request)
        asked, names = (_asked(request), _names(request)) if request else ({}, {})
        self._write({"ts": _now(), **asked, "status": status, "cause": cause, **names})

    def _write(self, entry: dict[str, object]) -> None:
        line = orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)
        self._lines.append(line)
        self._size += len(line)
        if self._size >= AT_ONCE:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(EVERY, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._lines:
            self._out.write(b"".join(self._lines))
            self._out.flush()
            self._lines = []
            self._size = 0


def _asked(request: Request) -> dict[str, str]:
    path = request.target.partition(b"?")[0]
    return {"method": request.method.decode("latin-1"), "path": path.decode("latin-1")}


def _names(request: Request) -> dict[str, str]:
    """By which others know the request, and who sent it."""
    kept = (field for field in request.headers if field[0] in _KEPT)
    return {_KEPT[name]: value.decode("latin-1") for name, value in kept}


def _now() -> str:
    now = datetime.now(UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


_KEPT = {b"x-request-id": "request_id", b"traceparent": "traceparent", b"user-agent": "user_agent"}
