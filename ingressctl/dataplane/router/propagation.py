"""Which headers of the client reach a step, and which of a step's answer reach the client.

Patterns are decided once for each name and remembered; a request only looks names up.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ingressctl.api import header_patterns, re2
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router.ports import Headers

LOG = logging.getLogger("ingressctl.router")

Field = tuple[bytes, bytes]
Match = Callable[[str], bool]

FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
"""Never taken over: they belong to one message on one connection."""

ENTITY = frozenset({b"content-type", b"content-encoding", b"inference-header-content-length"})
"""What a body cannot be read without (IG-D17)."""

TRACE = frozenset({b"traceparent", b"tracestate", b"baggage", b"x-request-id"})
"""Handed on whatever the patterns say, so that what belongs together can be found (IG-D22)."""

MAX_NAMES = 1024
"""Names whose decision is remembered: clients choose them."""


_LIST = re.compile(r"\s*\[\s*\"")
"""How a JSON list of texts begins, and hardly a pattern: other brackets may be its classes."""


class NoList(ValueError):
    """PROPAGATE_HEADERS begins as a JSON list of texts and is none. Says where."""


def of_environment(text: str | None, compat: Compat) -> list[str] | None:
    """The patterns of PROPAGATE_HEADERS: KServe's comma list, or a JSON list (IG-D16).

    Raises NoList.
    """
    if text is None:
        return None
    if compat.differs("IG-D16") and text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text, type=list[str])
        except msgspec.DecodeError as fault:
            if _LIST.match(text):
                raise NoList(str(fault)) from None
    return text.split(",")


def faults(patterns: Iterable[str], compat: Compat) -> Iterator[tuple[str, str]]:
    """The patterns that match nothing because they cannot be read, and why."""
    for pattern in patterns:
        why = header_patterns.fault(pattern, whole=compat.differs("IG-D16"))
        if why:
            yield pattern, why


def warn(patterns: Iterable[str], compat: Compat) -> None:
    """Tell of patterns of PROPAGATE_HEADERS that are left out, as KServe's router does."""
    for pattern, why in faults(patterns, compat):
        LOG.warning(
            "a pattern of PROPAGATE_HEADERS is left out",
            extra={"keys": {"pattern": pattern, "error": why}},
        )


class Names:
    """A set of header names that is given by patterns and by names taken always."""

    def __init__(
        self, matches: Iterable[Match], always: frozenset[bytes], never: frozenset[bytes]
    ) -> None:
        self._matches = tuple(matches)
        self._always = always
        self._never = never
        self._known: dict[bytes, bool] = {}

    def pick(self, headers: Headers) -> list[Field]:
        """Those of the headers that belong to the set, in their order."""
        known = self._known
        picked = []
        for field in headers:
            name = field[0]
            taken = known.get(name)
            if taken is None:
                taken = self._decide(name)
            if taken:
                picked.append(field)
        return picked

    def _decide(self, name: bytes) -> bool:
        taken = name in self._always or (name not in self._never and self._is_matched(name))
        if len(self._known) < MAX_NAMES:
            self._known[name] = taken
        return taken

    def _is_matched(self, name: bytes) -> bool:
        if len(name) > header_patterns.LONGEST_NAME:
            return False
        text = canonical(name)
        return any(match(text) for match in self._matches)


def canonical(name: bytes) -> str:
    """The name as Go writes it: `X-Request-Id`."""
    return "-".join(part.capitalize() for part in name.decode("latin-1").split("-"))


def of_patterns(patterns: Iterable[str], compat: Compat) -> list[Match]:
    """The tests of patterns; one that does not compile matches nothing.

    KServe looks for a match anywhere in the canonical name, and an empty pattern matches
    all names (IG-D3). Ours take the whole name, in any case (IG-D16).
    """
    if compat.differs("IG-D3"):
        patterns = [pattern for pattern in patterns if pattern.strip()]
    whole = compat.differs("IG-D16")
    return [match for match in (_match(pattern, whole=whole) for pattern in patterns) if match]


def _match(pattern: str, *, whole: bool) -> Match | None:
    try:
        compiled = header_patterns.compiled(pattern, whole=whole)
    except re2.PatternFault:
        return None
    if whole:
        return lambda name: compiled.fullmatch(name) is not None
    return lambda name: compiled.search(name) is not None


def inwards(patterns: Iterable[str], compat: Compat) -> Names:
    """What reaches a step beside the fields of its body."""
    never = FRAMING
    if compat.differs("IG-D17"):
        never = never | ENTITY | {b"accept-encoding"}
    always = TRACE if compat.differs("IG-D22") else frozenset()
    return Names(of_patterns(patterns, compat), always, never)


def outwards(patterns: Iterable[str], compat: Compat) -> Names:
    """What of a step's answer reaches the client."""
    always = set()
    if compat.differs("IG-D32"):
        always.add(b"content-type")
    if compat.differs("IG-D17"):
        always |= {b"content-encoding", b"inference-header-content-length"}
    return Names(of_patterns(patterns, compat), frozenset(always), FRAMING | ENTITY)
