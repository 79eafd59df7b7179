"""The Secret with the certificates between us and our Envoys: the leader keeps it fresh, every
replica reads it. Its content is never logged."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ingressctl.cluster import answers, authority
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import MERGE, Client, Lost

LOG = logging.getLogger("ingressctl.certificates")

FIRST_SECONDS, SECONDS = 0.5, 20.0
"""Between two looks: until there are certificates, and then."""

Told = Callable[[bytes, bytes, bytes], None]
"""Authorities, the server's certificate, and its key."""


class Keeper:
    """One replica's part. `told` hears of every other certificate."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        hosts: Sequence[str],
        may_write: Callable[[], bool],
        told: Told,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        seconds: float = SECONDS,
    ) -> None:
        self._client = client
        self._root = f"/api/v1/namespaces/{namespace}/secrets"
        self._name = name
        self._hosts = tuple(hosts)
        self._may_write = may_write
        self._told = told
        self._clock = clock
        self._seconds = seconds
        self._last: Mapping[str, bytes] = {}
        self._fault = ""

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
            except (Answered, Lost) as fault:
                self._complain(str(fault))
            else:
                self._fault = ""
            await asyncio.sleep(self._seconds if self._last else FIRST_SECONDS)

    async def look(self) -> None:
        """Once. Raises Answered, Lost."""
        stored = await self._stored()
        data = _decoded(stored or {})
        fresh = authority.renewed(data, self._hosts, self._clock()) if self._may_write() else None
        if fresh is not None:
            try:
                await self._write(stored, fresh)
            except Answered as answered:
                if answered.status != answers.CONFLICT:
                    raise
                return  # somebody else was faster: look again
            data = fresh
        if authority.is_whole(data) and data != self._last:
            self._last = data
            self._told(data["ca.crt"], data["server.crt"], data["server.key"])

    async def _stored(self) -> Mapping[str, Any] | None:
        try:
            return await self._client.get(f"{self._root}/{self._name}")
        except Answered as answered:
            if answered.status != answers.NOT_FOUND:
                raise
            return None

    async def _write(self, stored: Mapping[str, Any] | None, data: Mapping[str, bytes]) -> None:
        body: dict[str, Any] = {
            "data": {key: base64.b64encode(value).decode() for key, value in data.items()}
        }
        query = {"fieldManager": "ingressctl-certificates"}
        if stored is None:
            labels = {"app.kubernetes.io/managed-by": "ingressctl"}
            body |= {"apiVersion": "v1", "kind": "Secret", "type": "Opaque"}
            body["metadata"] = {"name": self._name, "labels": labels}
            await self._client.send("POST", self._root, query, body)
        else:
            version = (stored.get("metadata") or {}).get("resourceVersion")
            body["metadata"] = {"resourceVersion": version}
            path = f"{self._root}/{self._name}"
            await self._client.send("PATCH", path, query, body, MERGE)
        LOG.info("certificates renewed", extra={"keys": {"secret": self._name}})

    def _complain(self, text: str) -> None:
        """Once for each other fault."""
        if text != self._fault:
            self._fault = text
            LOG.error(
                "the Secret of certificates cannot be kept: Envoys go on with those they have",
                extra={"keys": {"secret": self._name, "error": text}},
            )


def _decoded(stored: Mapping[str, Any]) -> dict[str, bytes]:
    """What cannot be decoded is not there."""
    found: dict[str, bytes] = {}
    for key, text in (stored.get("data") or {}).items():
        try:
            found[key] = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError, TypeError):
            continue
    return found
