"""Where a request goes and why, as a value: attempts at entries, each with its branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingressctl.core.model import Split
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Hop, NoRoute, Request


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a hop waits. `seconds` None: it does not end the request by itself."""

    where: str
    text: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One backend of a hop with its part of the requests, and what it gets to see.

    `status` is what answers in its place when it cannot be reached, 0 otherwise. `then` is
    the next hop where the backend is itself a gateway.
    """

    split: Split
    share: float
    backend: str
    host: str
    headers: Mapping[str, str]
    status: int = 0
    reason: str = ""
    then: Attempt | None = None
    limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request at one entry of one provider's table, and what became of it.

    `also` are entries that share the table of this one, so that all is the same there.
    """

    provider: str
    entry: str
    request: Request
    answer: Hop | NoRoute
    limit: Limit | None = None
    branches: tuple[Branch, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """What the gateway itself answers; 0 if a backend does."""
        if isinstance(self.answer, NoRoute):
            return self.answer.status
        return self.answer.rule.status


@dataclass(frozen=True, slots=True)
class Leaf:
    """An end of the way: a backend or a status, its share of all requests, and the hops."""

    share: float
    status: int
    branch: Branch | None
    attempts: tuple[Attempt, ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What each hop on the way allows, in order."""
        found = [attempt.limit for attempt in self.attempts]
        return tuple(limit for limit in (*found, self.branch and self.branch.limit) if limit)


@dataclass(frozen=True, slots=True)
class Explanation:
    """All attempts for one request. `private` tells that only inside entries admit it.

    `hints` are sentences about a request that nothing takes (plan/missing.py).
    """

    request: Request
    attempts: tuple[Attempt, ...]
    findings: tuple[Finding, ...] = ()
    private: bool = False
    hints: tuple[str, ...] = ()

    @property
    def missed(self) -> bool:
        """Whether no entry has the host at all."""
        answers = [attempt.answer for attempt in self.attempts]
        return all(isinstance(item, NoRoute) and not item.virtual_host for item in answers)


def leaves(attempt: Attempt, share: float = 1.0) -> Iterator[Leaf]:
    """Every end that a request at this attempt may come to."""
    if attempt.status or not attempt.branches:
        yield Leaf(share, attempt.status, None, (attempt,))
    for branch in attempt.branches:
        if branch.then is None:
            yield Leaf(share * branch.share, branch.status, branch, (attempt,))
            continue
        for leaf in leaves(branch.then, share * branch.share):
            yield Leaf(leaf.share, leaf.status, leaf.branch, (attempt, *leaf.attempts))


def walk(attempt: Attempt) -> Iterator[Attempt]:
    """The attempt and all hops behind it."""
    yield attempt
    for branch in attempt.branches:
        if branch.then is not None:
            yield from walk(branch.then)
