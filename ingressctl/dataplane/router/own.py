"""Requests that the router answers without the graph: probes, and what it does not serve."""

from __future__ import annotations

import posixpath

from ingressctl.dataplane.router import wire
from ingressctl.dataplane.router.ports import Answer, Request
from ingressctl.dataplane.router.settings import Manner

TEXT = (b"content-type", b"text/plain; charset=utf-8")
ALLOW = (b"allow", b"POST")
ONLY_POST = "only POST runs the graph"


def answer(request: Request, manner: Manner, *, unready: bool) -> Answer | None:
    """The answer, or None if the graph gives it."""
    target, post = request.target, request.method == b"POST"
    if target in _PLAIN and post:
        return None  # nearly all requests
    path = _path(target)
    if path == b"/readyz":
        return Answer(503, (TEXT,), b"shutting down\n") if unready else Answer(200, (), b"")
    if manner.only_post and not post:
        if path in _ALIVE and request.method in (b"GET", b"HEAD"):
            return Answer(200, (), b"")
        return Answer(405, (wire.JSON, ALLOW), wire.error_body(ONLY_POST))
    if not manner.keeps_double_slashes and b"//" in path:
        return Answer(307, ((b"location", _clean(target)),), b"")
    return None


def _path(target: bytes) -> bytes:
    """The path of a target, which may be a whole URL."""
    if not target.startswith(b"/"):
        target = b"/" + target.partition(b"://")[2].partition(b"/")[2]
    return target.partition(b"?")[0].partition(b"#")[0]


def _clean(target: bytes) -> bytes:
    """The target as the reference's paths are: without double slashes and dots."""
    path, mark, query = target.partition(b"?")
    cleaned = b"/" + posixpath.normpath(path).lstrip(b"/")
    slash = b"/" if path.endswith(b"/") and cleaned != b"/" else b""
    return cleaned + slash + mark + query


_ALIVE = frozenset((b"/livez", b"/healthz"))
_PLAIN = frozenset((b"/",))
