"""Who runs next, and how the limit moves."""

from __future__ import annotations

from ingressctl.dataplane.router.admission import BUDGET, LONG, Admission


class Comer:
    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.gone = False
        self.runs = False

    def admitted(self) -> None:
        self.runs = True


def come(admission: Admission, number: int, size: int = 0) -> list[Comer]:
    comers = [Comer(size) for _ in range(number)]
    for comer in comers:
        assert admission.come(comer)
    return comers


def running(comers: list[Comer]) -> int:
    return sum(comer.runs for comer in comers)


def test_the_first_to_come_runs_next() -> None:
    admission = Admission(limit=2, queue=10)
    comers = come(admission, 5)
    assert [comer.runs for comer in comers] == [True, True, False, False, False]
    admission.leave(comers[0])
    assert [comer.runs for comer in comers] == [True, True, True, False, False]


def test_a_full_line_takes_nobody() -> None:
    admission = Admission(limit=1, queue=1)
    come(admission, 2)
    assert not admission.come(Comer())


def test_those_who_gave_up_take_no_place_and_no_memory() -> None:
    admission = Admission(limit=1, queue=10)
    (first,) = come(admission, 1)
    for _ in range(1000):
        (comer,) = come(admission, 1)
        comer.gone = True
        admission.give_up(comer)
    assert admission.waiting == 0
    assert len(admission._line) < 200
    (last,) = come(admission, 1)
    admission.leave(first)
    assert (first.runs, last.runs, admission.waiting) == (True, True, 0)


def test_the_limit_grows_while_the_loop_has_room_and_somebody_waits() -> None:
    admission = Admission(limit=4, most=16, queue=100)
    comers = come(admission, 50)
    admission.paced(0.001)
    assert running(comers) == 8
    for _ in range(5):
        admission.paced(0.001)
    assert running(comers) == 16
    admission.paced(0.05)
    assert admission.limit == 8
    for _ in range(10):
        admission.paced(0.05)
    assert admission.limit == 4
    assert Admission(limit=4, queue=1).limit == 4


def test_a_limit_that_was_set_does_not_move() -> None:
    admission = Admission(limit=4, queue=100)
    come(admission, 50)
    admission.paced(0.0)
    admission.paced(9.0)
    assert admission.limit == 4


def test_large_bodies_run_within_a_sum_until_they_only_wait() -> None:
    admission = Admission(limit=2, most=1024, queue=1000)
    large = come(admission, 100, BUDGET // 10)
    small = come(admission, 1)
    for _ in range(LONG - 1):
        admission.paced(0.0)
    assert running(large) == 10
    assert not small[0].runs, "nobody overtakes"
    for _ in range(5):
        admission.paced(0.0)
    assert running(large) == 20, "the first ten wait for their steps"
    for comer in large[:20]:
        admission.leave(comer)
    assert running(large) == 30


def test_some_run_however_large_they_are() -> None:
    admission = Admission(limit=2, most=1024, queue=1000)
    assert running(come(admission, 5, BUDGET * 2)) == 2


def test_whoever_waits_counts_until_the_turn_or_the_leave() -> None:
    admission = Admission(limit=1, queue=10)
    (first,), (waiting,), (leaving,) = (come(admission, 1, size) for size in (5, 7, 11))
    assert admission.backlog.held == 18
    leaving.gone = True
    admission.give_up(leaving)
    assert admission.backlog.held == 7
    admission.leave(first)
    assert admission.backlog.held == 0
    admission.leave(waiting)
    assert admission.backlog.held == 0
