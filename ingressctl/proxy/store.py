"""What there is for Envoys, and what one of them wants, was told and has answered."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Envoy did not accept, in its words."""

    type: str
    names: tuple[str, ...]
    message: str


@dataclass(slots=True)
class Store:
    """Resources by (type URL, name), each with its version: a digest of its body, so that
    replicas, and a process and the one before it, mean the same by it. `number` is that of
    the last change. What is in `left` stays with whoever has it although it is not here."""

    left: Container[tuple[str, str]] = ()
    resources: dict[tuple[str, str], bytes] = field(default_factory=dict)
    versions: dict[tuple[str, str], str] = field(default_factory=dict)
    number: int = 0

    def apply(self, key: tuple[str, str], body: bytes | None) -> None:
        """A new body, or none any longer."""
        if body is None:
            self.resources.pop(key, None)
            self.versions.pop(key, None)
            return
        self.resources[key] = body
        self.versions[key] = hashlib.blake2b(body, digest_size=12).hexdigest()

    def leaves(self, kind: str, name: str) -> bool:
        """Whether what an Envoy has by that name is left to it."""
        return (kind, name) in self.left and (kind, name) not in self.resources

    def names(self, kind: str) -> list[str]:
        """All names of a type."""
        return [name for found, name in self.resources if found == kind]


@dataclass(slots=True)
class Interest:
    """What one type's subscription covers and what is still to be told of it.

    `dirty` names have the number of the first change that Envoy has not been told; `alone`
    are those that are sent one by one, after they were refused together.
    """

    wildcard: bool = False
    names: dict[str, None] = field(default_factory=dict)
    dirty: dict[str, int] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)
    begun: bool = False
    asked: bool = False
    """An answer is owed even if it is empty: Envoy waits for it at start."""

    def covers(self, name: str) -> bool:
        """Whether a resource of that name is wanted."""
        return self.wildcard or name in self.names


@dataclass(frozen=True, slots=True)
class Flight:
    """A message that is not answered yet, and the first change that is in it."""

    kind: str
    present: tuple[str, ...]
    gone: tuple[str, ...]
    number: int
