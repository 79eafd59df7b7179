"""Answers that are packed, for clients that did not say that they take them so.

Whether an answer comes whole or as a stream depends on how the network cuts it, so both are
treated alike: unpacked as they go. What is unpacked never waits in the process as a whole
unless it is small.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

from ingressctl.dataplane.router import bodies, faults, packing, wire
from ingressctl.dataplane.router.ports import Answer, Headers, StepFailed

_NEVER = re.compile(rb"q\s*=\s*0(\.0*)?")


def accepts(headers: Headers, packed: bytes) -> bool:
    """Whether Accept-Encoding allows a coding by its name or by ``*``; silence allows none."""
    names = packing.NAMES if packed in packing.NAMES else {packed}
    anything = False
    for name, allowed in _allowed(headers):
        if name in names:
            return allowed
        anything = anything or (name == b"*" and allowed)
    return anything


def _allowed(headers: Headers) -> Iterator[tuple[bytes, bool]]:
    for field, value in headers:
        if field == b"accept-encoding":
            for part in value.lower().split(b","):
                name, _, weight = part.partition(b";")
                yield name.strip(), _NEVER.fullmatch(weight.strip()) is None


async def unpacked(answer: Answer, packed: bytes) -> Answer:
    """The answer without its coding."""
    if packed in packing.NAMES:
        return _unpacked(answer, packed)
    if packed == b"identity":
        return Answer(answer.status, _plain(answer), answer.body, answer.stream)
    if answer.stream is not None:
        await wire.closed(answer.stream)
    return _unreadable(f"its coding {packed.decode('latin-1')} is not known")


def _unpacked(answer: Answer, packed: bytes) -> Answer:
    stream = answer.stream
    if stream is None:
        try:
            body = bodies.unpacked(answer.body, packed) if answer.body else b""
            return Answer(answer.status, _plain(answer), body)
        except packing.TooLarge:
            stream = _one(answer.body)
        except packing.Unreadable as error:
            return _unreadable(str(error))
    return Answer(answer.status, _plain(answer), b"", Unpacking(stream))


def _plain(answer: Answer) -> Headers:
    return [field for field in answer.headers if field[0] != b"content-encoding"]


def _unreadable(why: str) -> Answer:
    return faults.answer(502, f"the answer of a step cannot be read: {why}")


async def _one(body: bytes) -> AsyncIterator[bytes]:
    yield body


class Unpacking:
    """A stream of gzip, unpacked no faster than it is read."""

    __slots__ = ("_ready", "_stream", "_unpacker")

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._unpacker: packing.Unpacker | None = None
        self._ready: Iterator[bytes] = iter(())

    def __aiter__(self) -> Unpacking:
        return self

    async def __anext__(self) -> bytes:
        """The next piece; raises StepFailed where the stream breaks off or cannot be read."""
        try:
            while True:
                for text in self._ready:
                    return text
                await self._more()
        except packing.Unreadable as error:
            await self.aclose()  # nobody reads on: the connection of the step is not kept waiting
            raise StepFailed("unusable", str(error), sent=True) from None

    async def _more(self) -> None:
        try:
            data = await self._stream.__anext__()
        except StopAsyncIteration:
            if self._unpacker is not None:
                self._unpacker.end()
            raise
        if self._unpacker is None:
            self._unpacker = packing.Unpacker()
        self._ready = self._unpacker.pieces(data)

    async def aclose(self) -> None:
        """Give it up."""
        await wire.closed(self._stream)
