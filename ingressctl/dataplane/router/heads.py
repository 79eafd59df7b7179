"""Heads that were parsed before.

A client's requests mostly have the head of the one before, and so do a step's answers. The
same bytes mean the same, so a message whose head is known, and whose body came with it,
needs no parser. Only heads that the parser took as one whole message are ever known.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from ingressctl.dataplane.router.ports import Headers

T = TypeVar("T")

END = b"\r\n\r\n"
MOST, LONGEST = 256, 2048
"""How many heads are remembered, and of which length: clients choose them."""


class Heads(Generic[T]):
    """What heads mean, each with the length of the body after it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, T]] = {}

    def find(self, data: bytes) -> tuple[T, bytes] | None:
        """What the message is and its body, if these bytes are one with a known head."""
        at = data.find(END) + 4
        known = self._known.get(data[:at])
        if known is None or len(data) - at != known[0]:
            return None
        return known[1], data[at:]

    def note(self, data: bytes, length: int, meaning: T) -> None:
        """These bytes were one message with so long a body."""
        at = data.find(END) + 4
        if len(data) - at == length and at <= LONGEST:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[data[:at]] = (length, meaning)


def length_of(headers: Headers) -> int:
    """The Content-Length of headers that have been checked; -1 if there is none."""
    for name, value in headers:
        if name == b"content-length":
            return int(value.lstrip(b"0") or 0)  # thousands of zeros are more than int() reads
    return -1
