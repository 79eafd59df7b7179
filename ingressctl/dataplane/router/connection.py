"""One connection of a client: requests in, one at a time, and answers out in their order."""

from __future__ import annotations

import asyncio
import logging
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, cast

from ingressctl.dataplane.router import own, wire
from ingressctl.dataplane.router.intake import Intake, Refusal, Taken
from ingressctl.dataplane.router.ports import Answer, Headers, NoAnswer, Request, StepFailed
from ingressctl.dataplane.router.sending import Sender

if TYPE_CHECKING:
    from ingressctl.dataplane.router.server import Server

LOG = logging.getLogger("ingressctl.router")

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LINGER = 2.0
"""How long a client that still sends has to read why it was refused."""


class Connection(asyncio.Protocol):
    """See the module. `deadline` and `expire` are for Deadlines, `gone` and `admitted` for
    Admission, `read_on` for its Backlog.
    """

    __slots__ = (
        "_asked",
        "_began",
        "_ending",
        "_idle",
        "_intake",
        "_loop",
        "_out",
        "_request",
        "_server",
        "_settings",
        "_starts",
        "_task",
        "_transport",
        "_waits",
        "deadline",
        "gone",
        "size",
    )

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = server.loop
        self._settings = server.settings
        manner = self._settings.manner
        self._intake = Intake(
            self._settings.limits, keep_hops=not manner.drops_hops, heads=server.heads
        )
        self._request: Request | None = None
        self._task: asyncio.Task[None] | None = None
        self._waits = self._starts = self._ending = self.gone = False
        self._idle = True
        self._asked = False  # the graph, by the last request
        self._began = 0.0
        self.size = 0
        self.deadline = inf

    def follow(self) -> None:
        """Another graph is served; a request that runs keeps the settings that it began with."""
        self._intake.follow(self._server.settings.limits, self._server.heads)
        if self._request is None:
            self._settings = self._server.settings

    # What the loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client is there; for its first byte it has the time of a request."""
        self._transport = cast(asyncio.Transport, transport)
        self._out = Sender(self._transport, self._loop)
        self._server.connections.add(self)
        self._server.deadlines.add(self)
        self._allow(self._settings.times.read)

    def data_received(self, data: bytes) -> None:
        """Bytes of a request, or of several."""
        if self._ending:
            return
        intake = self._intake
        intake.feed(data)
        if self._request is not None:
            if intake.arrived:
                self._transport.pause_reading()
        elif intake.arrived:
            self._next()
        else:
            self._await_rest()

    def eof_received(self) -> None:
        """The client has left: the connection is closed, and what it had sent is of no use."""

    def connection_lost(self, exc: Exception | None) -> None:
        """The end, from either side."""
        self.gone = self._out.gone = True
        self._server.deadlines.discard(self)
        self._server.lost(self)
        if self._intake.phase == "body" and not self._intake.over:
            self._server.watcher.refused(0, "the client left", self._intake.readable())
        self._intake.close()
        self._out.resume()
        if self._waits:
            self._server.admission.give_up(self)
            self._tell(0, 0)
        elif self._task is not None and self._settings.manner.cancels:
            self._task.cancel()
            if self._starts:  # a task that is cancelled before it has begun runs nothing at all
                self._tell(0, 0)
                self._server.admission.leave(self)

    def pause_writing(self) -> None:
        """The client does not read."""
        self._out.stuck = True
        self._allow(self._settings.times.write)

    def resume_writing(self) -> None:
        """It reads again."""
        self._out.resume()
        self.deadline = inf
        if self._request is None and not self.gone:
            self._go_on()

    # What the deadlines tell.

    def expire(self, now: float) -> None:
        """Something took too long."""
        self.deadline = inf
        if self._out.stuck or self._ending:
            self.abort()
        elif self._idle:
            self._transport.close()
        else:
            self._cut_off()

    def _cut_off(self) -> None:
        """The client did not send the whole request in its time."""
        cut = None if self._settings.manner.refuses_cut_bodies else self._intake.cut()
        if cut is None:
            cause = "the request did not come in time"
            self._refuse(Refusal(408, cause, self._intake.readable()))
        else:
            self._intake.over = True
            self._take(Taken(cut, keep_alive=False, chunks=True))

    def _allow(self, seconds: float | None) -> None:
        self.deadline = inf if seconds is None else self._loop.time() + seconds

    # One request after another.

    def _go_on(self) -> None:
        """The last request has its answer, and the client has room for another one."""
        if self._ending or self._transport.is_closing():
            return
        if not self._out.keep:
            self._end()
        elif self._intake.arrived:
            self._loop.call_soon(self._next)
        elif self._server.draining:
            self._transport.close()
        else:
            self._idle = True
            self._wait_for_more()

    def _wait_for_more(self) -> None:
        """Nothing whole is there. Whoever has begun to send, or asked us alone, is read on."""
        postponed = (
            self._asked
            and self._intake.phase == "between"
            and not self._server.unready
            and self._server.admission.backlog.postpone(self)
        )
        if postponed:
            self.deadline = inf
            self._transport.pause_reading()
        else:
            self.read_on()

    def read_on(self) -> None:
        """Take what comes next; the client has its time for that from now on."""
        if self._transport.is_closing():
            return
        self._allow(self._settings.times.idle)
        self._await_rest()
        self._transport.resume_reading()

    def _await_rest(self) -> None:
        """Nothing is whole; a request that has begun has its time to come."""
        if self._intake.phase == "between":
            return
        if self._idle:
            self._idle = False
            self._allow(self._settings.times.read)
        if self._intake.wants_continue:
            self._transport.write(CONTINUE)

    def _next(self) -> None:
        """Begin with what came first."""
        if self.gone or self._request is not None or not self._intake.arrived:
            return
        arrived = self._intake.arrived.popleft()
        if isinstance(arrived, Refusal):
            self._refuse(arrived)
        else:
            self._take(arrived)

    def _take(self, taken: Taken) -> None:
        request, out, server = taken.request, self._out, self._server
        self._request, self._settings = request, server.settings
        out.keep, out.chunks = taken.keep_alive, taken.chunks
        self._idle = False
        self.deadline = inf
        answer = own.answer(request, self._settings.manner, unready=server.unready)
        self._asked = answer is None
        if answer is not None:
            if answer.status == 405:  # probes are not requests of the graph
                server.watcher.refused(answer.status, own.ONLY_POST, request)
            self._reply(answer.status, answer.headers, answer.body)
            return
        self._began = perf_counter()
        times = self._settings.times
        request.largest = self._settings.limits.body_bytes
        if times.answer is not None and self._settings.manner.answers_when_late:
            request.until = self._loop.time() + times.answer
        server.watcher.begun()
        self.size = len(request.body)
        self._waits = True
        if not server.admission.come(self):
            self._waits = False
            self._say(503, "too many requests wait", ((b"retry-after", b"1"),))

    def admitted(self) -> None:
        """It is this request's turn."""
        self._waits = False
        self._starts = True
        self._task = self._loop.create_task(self._run(cast(Request, self._request)))

    async def _run(self, request: Request) -> None:
        self._starts = False
        try:
            answer = await self._server.engine.run(request)
            if answer.stream is None:
                self._answer(answer)
            else:
                await self._stream(answer)
        except asyncio.CancelledError:
            self._drop()
        except NoAnswer:
            self._drop()
        except Exception as defect:
            _tell_defect(defect)
            self._say(500, "the router is at fault")
        finally:
            self._task = None
            self._server.admission.leave(self)

    # Answers.

    def _answer(self, answer: Answer) -> None:
        """An answer that is whole, unless it is too late for it."""
        times = self._settings.times
        late = (
            times.answer is not None
            and not self._settings.manner.answers_when_late
            and perf_counter() > self._began + times.answer
        )
        if late or self.gone:
            self._drop()
            return
        self._tell(answer.status, len(answer.body), answer.cause)
        self._reply(answer.status, answer.headers, answer.body)

    async def _stream(self, answer: Answer) -> None:
        """An answer that comes in pieces; one that breaks off ends the connection."""
        assert answer.stream is not None
        self._out.keep = self._out.keep and not self._server.unready
        try:
            sent = await self._out.pieces(answer, date=self._server.date)
        except StepFailed as failed:
            self._server.broke_off(failed.text)
            self._drop()
        except Exception as defect:
            _tell_defect(defect)
            self._drop()
        else:
            self._tell(0 if self.gone else answer.status, sent)
            self._done()
        finally:
            await wire.closed(answer.stream)

    def _reply(self, status: int, headers: Headers, body: bytes) -> None:
        self._out.keep = self._out.keep and not self._server.unready
        head = self._request is not None and self._request.method == b"HEAD"
        self._out.whole(status, headers, body, date=self._server.date, bare=head)
        self._done()

    def _say(self, status: int, cause: str, headers: Headers = ()) -> None:
        """An answer of the router to a request of the graph."""
        body = wire.error_body(cause)
        self._tell(status, len(body), cause)
        self._reply(status, (wire.JSON, *headers), body)

    def _refuse(self, refusal: Refusal) -> None:
        """What came is not taken. The client may still send: it gets a moment to read why."""
        self._ending = True
        self._intake.over = True
        self._out.keep = False
        self._server.watcher.refused(refusal.status, refusal.cause, refusal.request)
        body = wire.error_body(refusal.cause)
        headers = (wire.JSON, own.ALLOW) if refusal.status == 405 else (wire.JSON,)
        self._out.whole(refusal.status, headers, body, date=self._server.date)
        self._transport.write_eof()
        self._transport.resume_reading()
        self._allow(LINGER)

    def _done(self) -> None:
        self._request = None
        if not self._out.stuck:
            self._go_on()

    def _drop(self) -> None:
        """No answer: nobody waits for one, or it is not to be."""
        self._tell(0, 0)
        self._request = None
        self.abort()

    def _tell(self, status: int, size: int, cause: str = "") -> None:
        if self._request is not None:
            seconds = perf_counter() - self._began
            self._server.watcher.ended(self._request, status, size, seconds, cause)

    # The end.

    def end_if_idle(self) -> None:
        """The server takes no more requests."""
        if self._request is None and self._idle:
            self._transport.close()

    def abort(self) -> None:
        """At once, whatever is under way."""
        self._transport.abort()

    def _end(self) -> None:
        """After what was written has gone out."""
        self._ending = True
        self._allow(self._settings.times.write)
        self._transport.close()


def _tell_defect(defect: Exception) -> None:
    """A mistake of ours."""
    LOG.error(
        "a request failed by a defect, please report it",
        extra={"keys": {"error": f"{type(defect).__name__}: {defect}"}},
        exc_info=LOG.isEnabledFor(logging.DEBUG),
    )
