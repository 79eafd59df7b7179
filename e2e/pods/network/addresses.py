"""Which address a pod gets: the one that was free for longest.

Addresses rotate, because caches of clients and of proxies, and connections that the kernel
still tracks, would otherwise find a new pod where an old one was.
"""

from __future__ import annotations

from collections.abc import Iterator

NODE = "10.244.0.1"
HOST = "10.244.0.2"
PODS = "10.244.0.0/16"
SERVICES = "10.96.0.0/16"
# 10.244.0.x is left to the node, the host, and proxies that run on the host.
_THIRD = range(1, 250)
_LAST = range(1, 255)


class Exhausted(Exception):
    """There are more pods than addresses."""


class Addresses:
    """Gives and takes back the addresses of pods."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next = _forever()

    def take(self) -> str:
        """An address nobody has."""
        for _ in range(len(_THIRD) * len(_LAST)):
            address = next(self._next)
            if address not in self._taken:
                self._taken.add(address)
                return address
        raise Exhausted

    def give_back(self, address: str) -> None:
        """It may be taken again, after all others."""
        self._taken.discard(address)


def _forever() -> Iterator[str]:
    while True:
        for third in _THIRD:
            for last in _LAST:
                yield f"10.244.{third}.{last}"
