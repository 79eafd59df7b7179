"""What came back for a request, and whether that is one of the ends that explain tells of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from ingressctl.core.table import Hop, Request
from ingressctl.plan.explanation import Explanation, Leaf, leaves

GRPC_STATUS = {"2": 500, "12": 404, "13": 400, "14": 503}
"""What Envoy makes of its own answers to a gRPC client."""


@dataclass(frozen=True, slots=True)
class Came:
    """A status, and what the stub saw; empty if none was reached."""

    status: int
    seen: Mapping[str, Any]


async def ask(client: aiohttp.ClientSession, at: str, request: Request) -> Came:
    """Send a request to a listener of Envoy."""
    url = URL(f"http://{at}{request.path}", encoded=True)
    sent = {"Host": request.host, **request.headers}
    async with client.request(request.method, url, headers=sent, allow_redirects=False) as answer:
        body = await answer.read()
        if "x-stub" in answer.headers:
            return Came(answer.status, json.loads(answer.headers["x-stub"]))
        if "grpc-status" in answer.headers:
            return Came(GRPC_STATUS[answer.headers["grpc-status"]], {})
        is_json = answer.content_type == "application/json"
        return Came(answer.status, json.loads(body) if is_json else {})


@dataclass(frozen=True, slots=True)
class End:
    """An end that explain tells of. `backend` is "" where a proxy answers by itself."""

    status: int
    backend: str = ""
    host: str = ""
    path: str = ""
    headers: Mapping[str, str] | None = None

    def fits(self, came: Came, services: Mapping[str, str]) -> bool:
        """Whether the answer is this one; `services` names the stubs' addresses."""
        if not self.backend:
            return not came.seen and came.status == self.status
        if not came.seen:
            return False
        seen = came.seen
        where = f"{services[seen['address']]}:{seen['port']}"
        if (where, seen["host"], seen["path"]) != (self.backend, self.host, self.path):
            return False
        given = {name.lower(): value for name, value in (self.headers or {}).items()}
        return given.items() <= seen["headers"].items()


def ends(explained: Explanation) -> list[End]:
    """Every end that gets a share of the requests."""
    return [_end(leaf) for attempt in explained.attempts for leaf in leaves(attempt) if leaf.share]


def _end(leaf: Leaf) -> End:
    branch = leaf.branch
    if leaf.status or branch is None:
        return End(leaf.status)
    answer = leaf.attempts[-1].answer
    assert isinstance(answer, Hop)
    return End(0, branch.backend, branch.host, answer.path, branch.headers)
