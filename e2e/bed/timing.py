"""How long each part took to build and to start, in the order in which it happened."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

spans: list[tuple[str, float]] = []
"""What was done, and its seconds. make e2e prints them after the tests."""


@contextlib.contextmanager
def measured(what: str) -> Iterator[None]:
    """Remember how long the body took, if it ended well."""
    begin = time.monotonic()
    yield
    spans.append((what, time.monotonic() - begin))


def line(what: str, seconds: float) -> str:
    """For a person."""
    return f"{what}: {seconds:.1f} s"
