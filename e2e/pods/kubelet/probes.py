"""Probes: one attempt of each kind, and the verdicts that delays and thresholds make of many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import grpc

HEALTH_CHECK = "/grpc.health.v1.Health/Check"
# HealthCheckResponse with its first field, an enumeration, at SERVING.
SERVING = b"\x08\x01"
# TimeoutError is an OSError.
FAILURES = (OSError, aiohttp.ClientError, grpc.RpcError, ValueError)
Execute = Callable[[list[str]], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Target:
    """What is probed: an address, its ports by name, and a way to run a command there."""

    address: str
    ports: Mapping[str, int]
    execute: Execute

    def port(self, told: str | int) -> int:
        """A port by number or name."""
        return self.ports.get(str(told)) or int(told)


async def verdicts(
    probe: Mapping[str, Any], attempt: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bool]:
    """True or False each time a threshold is reached, for ever."""
    await asyncio.sleep(probe.get("initialDelaySeconds", 0))
    needed = {
        True: probe.get("successThreshold", 1),
        False: probe.get("failureThreshold", 3),
    }
    last, row = False, 0
    while True:
        healthy = await _within(probe.get("timeoutSeconds", 1), attempt)
        row = row + 1 if healthy == last else 1
        last = healthy
        if row >= needed[healthy]:
            yield healthy
        await asyncio.sleep(probe.get("periodSeconds", 10))


async def _within(seconds: float, attempt: Callable[[], Awaitable[bool]]) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await attempt()
    except FAILURES:
        return False


async def attempt(probe: Mapping[str, Any], target: Target) -> bool:
    """Whether it is well now. Raises what a connection raises."""
    if "exec" in probe:
        return await target.execute(probe["exec"]["command"]) == 0
    if "httpGet" in probe:
        return await _http(probe["httpGet"], target)
    if "tcpSocket" in probe:
        return await _tcp(probe["tcpSocket"], target)
    return await _grpc(probe["grpc"], target)


async def _http(action: Mapping[str, Any], target: Target) -> bool:
    scheme = action.get("scheme", "HTTP").lower()
    host = action.get("host") or target.address
    url = f"{scheme}://{host}:{target.port(action['port'])}{action.get('path') or '/'}"
    headers = {"User-Agent": "kube-probe/1.36"}
    headers |= {one["name"]: one["value"] for one in action.get("httpHeaders", ())}
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, headers=headers, allow_redirects=False, ssl=False) as response,
    ):
        return 200 <= response.status < 400


async def _tcp(action: Mapping[str, Any], target: Target) -> bool:
    host = action.get("host") or target.address
    _, writer = await asyncio.open_connection(host, target.port(action["port"]))
    writer.close()
    return True


async def _grpc(action: Mapping[str, Any], target: Target) -> bool:
    name = action.get("service", "").encode()
    # HealthCheckRequest: its only field is the name of the service.
    request = b"\x0a" + bytes([len(name)]) + name if name else b""
    async with grpc.aio.insecure_channel(f"{target.address}:{action['port']}") as channel:
        reply = await channel.unary_unary(HEALTH_CHECK)(request)
        return bytes(reply) == SERVING
