"""What Envoys have of the process before, of which nobody here knows.

After a start there may be no routes for an owner that had some: its reconcile fails, or what
they lead to is not ready just now. Kubernetes keeps objects meanwhile; routes without objects
are in Envoys only. Until the owner's routes are known, the tables of its hosts stay in Envoys as
they are. A host that some known route has is nobody's to leave: that table is made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ingressctl.api.refs import Ref
from ingressctl.core.outcome import Keep
from ingressctl.providers.envoy import names
from ingressctl.providers.envoy.snapshot import Key


class Inheritance:
    """What is left as it is, for each owner whose routes have not been known since the start.

    `left` counts the owners for whom a resource is left; sessions look into it.
    """

    def __init__(self) -> None:
        self.left: Counter[Key] = Counter()
        self._let_go: dict[Key, None] = {}
        self._of: dict[Ref, frozenset[Key]] = {}
        self._known: set[Ref] = set()

    def note(self, owner: Ref, keep: Keep, hosts: Iterable[str]) -> None:
        """An owner was looked at; `hosts` are those at which it may have been served."""
        self._forget(owner)
        if not keep.holds_any:
            self._known.add(owner)
        elif owner not in self._known:
            self._of[owner] = frozenset(_keys(hosts, hidden=keep.hidden))
            self.left.update(self._of[owner])
            for key in self._of[owner]:
                self._let_go.pop(key, None)

    def gone(self, owner: Ref) -> None:
        """There is no such owner any more."""
        self._forget(owner)
        self._known.discard(owner)

    @property
    def has_let_go(self) -> bool:
        """Whether there is something to let go of."""
        return bool(self._let_go)

    def let_go(self) -> tuple[Key, ...]:
        """What is left to nobody any more since the last time."""
        found, self._let_go = tuple(self._let_go), {}
        return found

    def _forget(self, owner: Ref) -> None:
        for key in self._of.pop(owner, ()):
            self.left[key] -= 1
            if not self.left[key]:
                del self.left[key]
                self._let_go[key] = None


def _keys(hosts: Iterable[str], *, hidden: bool) -> Iterator[Key]:
    """Tables with their scopes; public ones do not outlive the wish to be hidden."""
    for host in hosts:
        for listener in (names.LOCAL,) if hidden else (names.LOCAL, names.PUBLIC):
            yield names.SCOPE, names.route_configuration(listener, host)
            yield names.ROUTES, names.route_configuration(listener, host)
        yield names.LISTENER, names.LOCAL
