"""The answer of a graph as the client gets it."""

from __future__ import annotations

from dataclasses import dataclass

from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import bodies, faults, packing, reference
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

    def answer(self, answer: Answer, request: Request) -> Answer:
        """The answer with the fields that describe it."""
        if self.hands_on and answer.stream is None:
            answer = _for_client(answer, request)
        if self.knows_type and (answer.stream is not None or _has_type(answer)):
            return answer
        kept = [field for field in answer.headers if field[0] != b"content-type"]
        kind = reference.content_type(answer.body)
        headers = kept if kind is None else [(b"content-type", kind), *kept]
        return Answer(answer.status, headers, answer.body)


def _has_type(answer: Answer) -> bool:
    return any(name == b"content-type" for name, _ in answer.headers)


def _for_client(answer: Answer, request: Request) -> Answer:
    """A packed answer unpacked for a client that did not say that it takes it."""
    packed = bodies.coding(answer.headers)
    if not packed or packed in (bodies.first_of(request.headers, b"accept-encoding") or b""):
        return answer
    try:
        body = bodies.unpacked(answer.body, packed)
    except packing.Unreadable as error:
        return faults.answer(502, f"the answer of a step cannot be read: {error}")
    headers = [field for field in answer.headers if field[0] != b"content-encoding"]
    return Answer(answer.status, headers, body)
