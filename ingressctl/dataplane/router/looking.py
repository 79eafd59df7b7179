"""What a graph looks into: bodies, unpacked within their limits."""

from __future__ import annotations

from ingressctl.api import gjson
from ingressctl.dataplane.router import bodies
from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.packing import TooLarge
from ingressctl.dataplane.router.ports import Answer, Request
from ingressctl.dataplane.router.steps import Payload


def largest(request: Request) -> int:
    """How many bytes the body of a client may have when it is unpacked."""
    return bodies.LARGEST if request.largest is None else min(request.largest, bodies.LARGEST)


def into(payload: Payload) -> bytes:
    """The body of a payload. Raises Unreadable, and Failed if it is too large."""
    packed = bodies.coding(payload.entity)
    if not packed:
        return payload.body
    try:
        return bodies.unpacked(payload.body, packed, payload.largest or bodies.LARGEST)
    except TooLarge as error:
        if payload.largest is None:
            raise Failed("graph", 502, f"the answer of a step is {error.why}") from None
        raise Failed("input", 413, f"the request is {error.why}", fixed=True) from None


def into_answer(answer: Answer) -> bytes:
    """The body of an answer. Raises Unreadable."""
    packed = bodies.coding(answer.headers)
    return bodies.unpacked(answer.body, packed) if packed else answer.body


def why(error: Exception) -> str:
    """What is wrong with a body that conditions cannot look into."""
    return error.why if isinstance(error, gjson.TooNested | TooLarge) else "not JSON"
