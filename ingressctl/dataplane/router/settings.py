"""How the server behaves: limits of size and time, and where it follows the reference."""

from __future__ import annotations

from dataclasses import dataclass, field

from ingressctl.api.inferencegraphs import Spec
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router.intake import Limits


@dataclass(frozen=True, slots=True)
class Manner:
    """Where the reference is followed although it hurts: each False is one difference off."""

    refuses_cut_bodies: bool = True  # IG-D4
    answers_when_late: bool = True  # IG-D6
    cancels: bool = True  # IG-D7
    only_post: bool = True  # IG-D21
    keeps_double_slashes: bool = True  # IG-D28
    drops_hops: bool = True  # IG-D31


@dataclass(frozen=True, slots=True)
class Times:
    """Limits in seconds; None is none.

    `read` is from the first byte of a request to its last, `answer` from there until the
    graph's answer, `write` how long a client may not read, `idle` between two requests.
    """

    read: float | None = 60.0
    answer: float | None = 60.0
    write: float | None = 60.0
    idle: float | None = 180.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server behaves."""

    limits: Limits = field(default_factory=Limits)
    times: Times = field(default_factory=Times)
    manner: Manner = field(default_factory=Manner)


DEFAULT_BODY_BYTES = 100 * 1024 * 1024


def of_graph(spec: Spec, compat: Compat, *, max_request_bytes: int | None) -> Settings:
    """What a graph asks for; `max_request_bytes` holds where it says nothing."""
    manner = Manner(
        refuses_cut_bodies=compat.differs("IG-D4"),
        answers_when_late=compat.differs("IG-D6"),
        cancels=compat.differs("IG-D7"),
        only_post=compat.differs("IG-D21"),
        keeps_double_slashes=compat.differs("IG-D28"),
        drops_hops=compat.differs("IG-D31"),
    )
    largest = spec.maxRequestBytes or max_request_bytes or DEFAULT_BODY_BYTES
    limits = Limits(body_bytes=largest if compat.differs("IG-D25") else None)
    return Settings(limits, _times(spec, deadline=manner.answers_when_late), manner)


def _times(spec: Spec, *, deadline: bool) -> Times:
    """The graph's `timeout` is the time of an answer (IG-D6), within a write limit it sets."""
    asked = spec.routerTimeouts
    write = _limit(asked.serverWrite if asked else None, 60.0)
    answer = write
    if deadline and spec.timeout is not None and spec.timeout > 0:
        bounded = asked is not None and asked.serverWrite is not None and write is not None
        answer = min(float(spec.timeout), write) if bounded and write else float(spec.timeout)
    return Times(
        read=_limit(asked.serverRead if asked else None, 60.0),
        answer=answer,
        write=write,
        idle=_limit(asked.serverIdle if asked else None, 180.0),
    )


def _limit(seconds: int | None, default: float) -> float | None:
    """A limit of the graph: absent is the default, 0 and below is none."""
    if seconds is None:
        return default
    return float(seconds) if seconds > 0 else None
