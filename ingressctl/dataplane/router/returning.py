"""The answer of a graph as the client gets it."""

from __future__ import annotations

from dataclasses import dataclass

from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import bodies, coding, reference
from ingressctl.dataplane.router.ports import Answer, Request


@dataclass(frozen=True, slots=True)
class Return:
    """`knows_type`: the content type is that of the step, if it has one (IG-D32); `hands_on`:
    bodies keep their coding (IG-D17).
    """

    knows_type: bool
    hands_on: bool

    @staticmethod
    def of(compat: Compat) -> Return:
        """As a `compat` says."""
        return Return(compat.differs("IG-D32"), compat.differs("IG-D17"))

    async def answer(self, answer: Answer, request: Request) -> Answer:
        """The answer with the fields that describe it."""
        if self.hands_on:
            packed = bodies.coding(answer.headers)
            if packed and not coding.accepts(request.headers, packed):
                answer = await coding.unpacked(answer, packed)
        if answer.stream is not None or (self.knows_type and _has_type(answer)):
            return answer
        kept = [field for field in answer.headers if field[0] != b"content-type"]
        kind = reference.content_type(answer.body)
        headers = kept if kind is None else [(b"content-type", kind), *kept]
        return Answer(answer.status, headers, answer.body, cause=answer.cause)


def _has_type(answer: Answer) -> bool:
    return any(name == b"content-type" for name, _ in answer.headers)
