"""What server, engine and upstream client of the router say to one another.

The server makes a `Request` of what came, whole and within its limits, and hands it to the
engine; the engine asks an `Upstream` for each step and returns an `Answer`; the server sends
that and tells `done` what became of it. Header names are lower-case bytes; hop-by-hop fields
are neither in a Request nor in an Answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal, Protocol

Headers = Sequence[tuple[bytes, bytes]]


class Request:
    """One request of a client, complete.

    `method` and `target` are as sent; `until` is the moment of the event loop's clock after
    which nobody waits for the answer any more, None without a limit; `largest` how many bytes
    its body may have, which one that is packed keeps to when it is unpacked.
    """

    __slots__ = ("body", "headers", "largest", "method", "target", "until")

    def __init__(
        self,
        method: bytes,
        target: bytes,
        headers: Headers,
        body: bytes,
        until: float | None = None,
        largest: int | None = None,
    ) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.until = until
        self.largest = largest


class Answer:
    """An answer of a step, or of the graph.

    `stream` gives the rest of a body that is handed on as it comes; `body` is then empty.
    Who takes an answer with a stream reads it to its end, or calls `aclose` on it. `cause` is why
    the router answers itself, "" if a step has answered.
    """

    __slots__ = ("body", "cause", "headers", "status", "stream")

    def __init__(
        self,
        status: int,
        headers: Headers,
        body: bytes,
        stream: AsyncIterator[bytes] | None = None,
        cause: str = "",
    ) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.stream = stream
        self.cause = cause


class Target:
    """Where a step is called: made once of its URL.

    `authority` is the Host header; `host` and `port` are connected to; `h2c` asks for HTTP/2
    cleartext with prior knowledge.
    """

    __slots__ = ("authority", "h2c", "host", "path", "port", "tls")

    def __init__(
        self, *, host: str, port: int, path: bytes, authority: bytes, tls: bool, h2c: bool = False
    ) -> None:
        self.host = host
        self.port = port
        self.path = path
        self.authority = authority
        self.tls = tls
        self.h2c = h2c


Failure = Literal["unreachable", "lost", "late", "unusable"]
"""No connection; a connection that ended early; the time was over; not an HTTP answer."""


class StepFailed(Exception):
    """A call that gave no answer. `sent` tells whether the step may have seen the request.

    The text names no address: clients see it (IG-D25).
    """

    def __init__(self, failure: Failure, text: str, *, sent: bool) -> None:
        super().__init__(text)
        self.failure = failure
        self.text = text
        self.sent = sent


class NoAnswer(Exception):
    """Under kserve alone: the connection of the client ends without an answer.

    The reference does so where it panics; `Engine.run` may raise it.
    """


Outcome = int | Failure | Literal["cancelled"]
"""How one call of a step ended: its status, or why there is none."""


class Series(Protocol):
    """What is counted of one step. It is on the way of every call, so nothing is looked up."""

    def begin(self) -> None:
        """A call is sent, or a repeat of one."""
        ...

    def end(self, outcome: Outcome, seconds: float) -> None:
        """That call is over. Each `begin` has its `end`, whatever happens."""
        ...

    def retried(self) -> None:
        """A call is tried again."""
        ...

    def fell_back(self) -> None:
        """The fallback of the step is asked."""
        ...


class Observer(Protocol):
    """Where the engine gets the series of its steps, once, when it is made."""

    def step(self, node: str, step: str) -> Series:
        """The series of a step; a step without a name is called by its index."""
        ...


class Upstream(Protocol):
    """The pooled client. Cancelling a call closes its connection at once."""

    async def call(
        self,
        target: Target,
        headers: Headers,
        body: bytes,
        *,
        until: float | None,
        stream: bool,
        method: bytes = b"POST",
    ) -> Answer:
        """Send the body. `headers` are all but Host and Content-Length.

        With `stream` the answer comes as soon as its head is there, if its body is not
        already. Raises StepFailed; a connection that the server closed while it was idle is
        tried once more on a new one when nothing of an answer came.
        """
        ...


class Engine(Protocol):
    """One graph, ready to run. A new graph is a new engine; running requests keep theirs."""

    async def run(self, request: Request) -> Answer:
        """The answer of the graph; raises nothing but cancellation and NoAnswer."""
        ...
