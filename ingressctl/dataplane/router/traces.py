"""W3C trace context: each call of a step is a span of its own below the client's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from ingressctl.dataplane.router.propagation import Field

_PARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_NO_TRACE, _NO_SPAN = b"0" * 32, b"0" * 16

Parent = tuple[bytes, bytes]
"""What stays the same in a trace: the text before the span, and behind it."""


def parent(value: bytes) -> Parent | None:
    """The trace that a traceparent names; None for one that must not be continued."""
    found = _PARENT.fullmatch(value)
    if found is None or value[:2] == b"ff":
        return None
    if found[1] == _NO_TRACE or found[2] == _NO_SPAN:
        return None
    if value[:2] == b"00" and len(value) != 55:
        return None
    return b"00-" + found[1] + b"-", b"-" + found[3]


def new(bits: Callable[[int], int] = random.getrandbits) -> Parent:
    """A trace of our own, not sampled: whoever records decides that."""
    return b"00-%032x-" % (bits(128) or 1), b"-00"


def child(trace: Parent, bits: Callable[[int], int] = random.getrandbits) -> Field:
    """The header of one call."""
    return b"traceparent", b"%b%016x%b" % (trace[0], bits(64) or 1, trace[1])
