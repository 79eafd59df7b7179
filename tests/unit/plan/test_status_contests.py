"""What happens to statuses that do not stay as they were written."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import ref_of
from ingressctl.core import findings
from ingressctl.plan.contests import REST, TIMES, WITHIN
from ingressctl.plan.status_contests import StatusContests
from tests.apiserver import made


def owner(**status: Any) -> dict[str, Any]:
    meta = {**made.service("iris")["metadata"], "uid": "u"}
    meta["managedFields"] = [
        {"manager": "argocd", "time": "2026-01-02T00:00:00Z"},
        {"manager": "manager", "subresource": "status", "time": "2026-01-01T00:00:00Z"},
    ]
    return {**made.service("iris"), "metadata": meta, "status": status}


def ready(status: str, time: str = "2026-01-01T00:00:00Z") -> list[dict[str, str]]:
    return [{"type": "Ready", "status": status, "lastTransitionTime": time}]


OURS = {"conditions": ready("True"), "url": "http://iris"}
THEIRS = owner(conditions=ready("False"), url="http://iris")


def fought(contests: StatusContests) -> list[bool]:
    """Somebody else turns it back at once, four times."""
    written = []
    for turn in range(TIMES + 1):
        ours = {**OURS, "conditions": ready("True", f"2026-01-01T00:00:0{turn}Z")}
        written.append(contests.may_write(THEIRS, ours, turn * WITHIN / TIMES))
        contests.wrote(owner(**ours))
    return written


def test_a_status_that_is_turned_back_again_and_again_is_left_alone_and_told() -> None:
    contests = StatusContests()
    assert fought(contests) == [True] * TIMES + [False]
    (found,) = contests.findings(ref_of(THEIRS))
    assert found.code == "IC7102"
    text = findings.message(found)
    assert text.startswith("manager keeps changing conditions of the status of")
    assert not contests.may_write(THEIRS, OURS, WITHIN + REST / 2)
    assert contests.may_write(THEIRS, OURS, WITHIN + REST + 1)
    assert contests.findings(ref_of(THEIRS)) == ()


def test_news_is_told_all_the_same() -> None:
    contests = StatusContests()
    fought(contests)
    assert contests.may_write(THEIRS, {**OURS, "url": "http://rose"}, WITHIN)
    assert contests.findings(ref_of(THEIRS)) == ()


def test_a_status_that_flaps_by_itself_is_no_fight() -> None:
    """Pods come and go: each time something else is told."""
    contests = StatusContests()
    for turn in range(TIMES * 4):
        now = {"conditions": ready("True" if turn % 2 else "False")}
        assert contests.may_write(owner(), now, float(turn))
        contests.wrote(owner(**now))


def test_slow_changes_by_others_are_no_fight() -> None:
    contests = StatusContests()
    for turn in range(TIMES * 3):
        assert contests.may_write(THEIRS, OURS, turn * WITHIN)
        contests.wrote(owner(**OURS))


def test_what_a_server_prunes_is_sent_once() -> None:
    contests = StatusContests()
    wanted = {**OURS, "own": 1}
    assert contests.may_write(owner(), wanted, 0.0)
    contests.wrote(owner(**OURS))
    assert not any(contests.may_write(owner(**OURS), wanted, float(turn)) for turn in range(9))
    assert contests.findings(ref_of(THEIRS)) == ()
    contests.forget(ref_of(THEIRS))
    assert contests.may_write(owner(**OURS), wanted, 10.0)
