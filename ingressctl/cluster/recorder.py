"""Events: what people see under `kubectl describe`. Told on change, never twice in a row.

Writing them must not hold up anything: they go through a queue of their own, and when the
API server is slow the oldest news is let go.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import Client, Lost
from ingressctl.core.outcome import Event

QUEUE = 2000
REMEMBERED = 20000
AGAIN_AFTER = 600.0
"""Seconds until the same event may be told again."""

NOTE, REASON = 1024, 128
"""Characters that the API allows."""


class Recorder:
    """Writes events in the order they are told, one after the other."""

    def __init__(
        self, client: Client, *, controller: str, instance: str, may_write: Callable[[], bool]
    ) -> None:
        self._client = client
        self._controller = controller
        self._instance = instance
        self._may_write = may_write
        self._queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(QUEUE)
        self._told: OrderedDict[tuple[Ref, str, str], float] = OrderedDict()
        self.dropped = 0

    def tell(self, obj: Raw, event: Event, *, action: str = "Reconcile") -> None:
        """Have an event written about an object."""
        key = (ref_of(obj), event.reason, event.message)
        now = time.monotonic()
        if self._told.get(key, -AGAIN_AFTER) > now - AGAIN_AFTER or not self._may_write():
            return
        self._told[key] = now
        self._told.move_to_end(key)
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        if self._queue.full():
            self.dropped += 1
            self._queue.get_nowait()
        self._queue.put_nowait(self._body(obj, event, action))

    async def run(self) -> None:
        """Write what is told, until cancelled."""
        while True:
            body = await self._queue.get()
            if not self._may_write():
                continue
            namespace = body["metadata"]["namespace"]
            path = f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"
            with contextlib.suppress(Answered, Lost):  # news only: nothing depends on it
                await self._client.send("POST", path, None, body)

    def _body(self, obj: Raw, event: Event, action: str) -> dict[str, Any]:
        meta = obj.get("metadata") or {}
        namespace = meta.get("namespace") or "default"
        now = datetime.now(UTC)
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": f"{str(meta.get('name'))[:200]}.{int(now.timestamp() * 1e6):x}",
                "namespace": namespace,
            },
            "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": self._controller,
            "reportingInstance": self._instance[:REASON],
            "action": action,
            "reason": event.reason[:REASON],
            "type": event.type,
            "note": event.message[:NOTE],
            "regarding": {
                "apiVersion": obj.get("apiVersion"),
                "kind": obj.get("kind"),
                "namespace": meta.get("namespace"),
                "name": meta.get("name"),
                "uid": meta.get("uid"),
                "resourceVersion": meta.get("resourceVersion"),
            },
        }
