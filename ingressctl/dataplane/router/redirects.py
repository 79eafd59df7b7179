"""Redirects of model servers are followed under kserve (IG-D24), as Go's client does."""

from __future__ import annotations

from copy import copy

from ingressctl.dataplane.router import addresses, bodies
from ingressctl.dataplane.router.guards import given_up
from ingressctl.dataplane.router.ports import Answer, StepFailed
from ingressctl.dataplane.router.steps import Call, Calling, Payload, Run

MOST = 10
REPEATED = (307, 308)
"""Statuses with which the request is sent again; the other three ask for a page."""
STATUSES = (301, 302, 303, *REPEATED)


class Following(Calling):
    """A call that goes where its answers point."""

    __slots__ = ("call", "label", "url")

    def __init__(self, call: Call, url: str) -> None:
        self.call = call
        self.label = call.label
        self.url = url

    async def ask(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """Call, and call again where the answer says. Raises StepFailed."""
        call, url = self.call, self.url
        for _ in range(MOST):
            answer = await call.raw(run, payload, stream=stream)
            location = bodies.first_of(answer.headers, b"location")
            if answer.status not in STATUSES or location is None:
                answer.headers = call.outwards.pick(answer.headers)
                return answer
            await given_up(answer)
            url = addresses.redirected(url, location.decode("latin-1"))
            method = call.method if answer.status in REPEATED else b"GET"
            payload = payload if answer.status in REPEATED else Payload(b"", ())
            call = _moved(call, url, method)
        raise StepFailed("unusable", f"it redirects more than {MOST} times", sent=True)


def _moved(call: Call, url: str, method: bytes) -> Call:
    """The same call of another URL. Raises StepFailed."""
    moved = copy(call)
    moved.method = method
    try:
        moved.target = addresses.target(url)
    except addresses.BadUrl as error:
        raise StepFailed("unusable", f"it redirects, and {error}", sent=True) from None
    return moved
