"""What Envoys have of the process before, of which nobody here knows.

After a start there may be no routes for an owner that had some: its reconcile fails, or what
they lead to is not ready just now. Kubernetes keeps objects meanwhile; routes without objects
are in Envoys only. Until the owner's routes are known, the tables of its hosts stay in Envoys as
they are. A host that some known route has is nobody's to leave: that table is made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from ingressctl.api.refs import Ref
from ingressctl.core.model import Service, Target
from ingressctl.core.outcome import Keep
from ingressctl.providers.envoy import names
from ingressctl.providers.envoy.snapshot import Key

_OF_A_TABLE = (names.SCOPE, names.ROUTES)


class Inheritance:
    """What is left as it is, for each owner whose routes have not been known since the start.

    Contains the (type URL, name) of each such resource.
    """

    def __init__(self) -> None:
        self._tables: Counter[str] = Counter()
        self._of: dict[Ref, tuple[str, ...]] = {}
        self._known: set[Ref] = set()
        self._ended: dict[str, None] = {}
        self._spaces: Counter[str] = Counter()
        self._never: set[str] = set()

    def __contains__(self, key: object) -> bool:
        kind, name = cast(Key, key)
        return kind in _OF_A_TABLE and name in self._tables and name not in self._never

    def __bool__(self) -> bool:
        return bool(self._tables)

    def note(self, owner: Ref, keep: Keep, hosts: Iterable[str]) -> None:
        """An owner was looked at; `hosts` are those at which it may have been served: if it
        asked to be hidden, nobody leaves them to the public any more."""
        self._forget(owner)
        if keep.hidden:
            for host in hosts:
                self._bar(names.route_configuration(names.PUBLIC, host))
        if not keep.holds_any:
            self._known.add(owner)
        elif owner not in self._known:
            left = (name for name in _tables(hosts) if name not in self._never)
            self._leave(owner, tuple(left))

    def made(self, table: str) -> None:
        """There is a table of this process: when it ends is known here from now on."""
        self._never.add(table)

    def gone(self, owner: Ref) -> None:
        """There is no such owner any more."""
        self._forget(owner)
        self._known.discard(owner)

    @property
    def has_ended(self) -> bool:
        """Whether there is something that `ended` would tell."""
        return bool(self._ended)

    def ended(self) -> tuple[Key, ...]:
        """What is left to nobody any more since the last time."""
        ended, self._ended = self._ended, {}
        return tuple((kind, name) for name in ended for kind in _OF_A_TABLE)

    def of(self, owner: Ref) -> bool:
        """Whether something is left for an owner."""
        return owner in self._of

    def may_lead_to(self, target: Target) -> bool:
        """Whether a left table may lead there: to Services of an owner's own namespace, or to
        what is outside of the cluster's Services, as gateways are that come next."""
        if isinstance(target, Service):
            return target.namespace in self._spaces
        return bool(self)

    def _bar(self, table: str) -> None:
        self._never.add(table)
        if table in self._tables:
            self._ended[table] = None

    def _leave(self, owner: Ref, tables: tuple[str, ...]) -> None:
        if tables:
            self._of[owner] = tables
            self._spaces[owner.namespace] += 1
        for name in tables:
            self._tables[name] += 1
            self._ended.pop(name, None)

    def _forget(self, owner: Ref) -> None:
        tables = self._of.pop(owner, ())
        if tables:
            _less(self._spaces, owner.namespace)
        for name in tables:
            if not _less(self._tables, name):
                self._ended[name] = None


def _less(counts: Counter[str], name: str) -> int:
    """One less of a name; how many are left."""
    counts[name] -= 1
    return counts[name] or counts.pop(name)


def _tables(hosts: Iterable[str]) -> Iterator[str]:
    for host in dict.fromkeys(hosts):
        yield names.route_configuration(names.LOCAL, host)
        yield names.route_configuration(names.PUBLIC, host)
