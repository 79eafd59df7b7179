"""How long a status waits for gateways."""

from __future__ import annotations

from ingressctl.api.refs import Ref
from ingressctl.cluster.patience import A_ROUTE, LEAST, MOST, Patience


def refs(number: int) -> list[Ref]:
    return [Ref("g", "Kind", "ns", str(one)) for one in range(number)]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_one_waits_for_a_moment_and_is_forgotten() -> None:
    clock = Clock()
    patience, (ref,) = Patience(clock), refs(1)
    assert patience.waits(ref)
    assert patience.left(ref) == LEAST
    clock.now += LEAST
    assert not patience.waits(ref)
    assert ref not in patience


def test_the_last_of_many_has_the_patience_of_all_and_the_next_begins_anew() -> None:
    clock = Clock()
    patience, many = Patience(clock), refs(200)
    assert all(patience.waits(ref) for ref in many)
    for ref in many[1:]:
        patience.forget(ref)
    clock.now += 199 * A_ROUTE
    assert patience.waits(many[0])
    patience.forget(many[0])
    assert patience.waits(many[1])
    assert patience.left(many[1]) == LEAST


def test_nobody_waits_for_ever() -> None:
    clock = Clock()
    patience, many = Patience(clock), refs(int(2 * MOST / A_ROUTE))
    assert all(patience.waits(ref) for ref in many)
    clock.now += MOST
    assert not patience.waits(many[0])
