"""What happens to objects that do not stay as they were written."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import ref_of
from ingressctl.core import findings
from ingressctl.plan.contests import REST, TIMES, WITHIN, Contests, differing, leftover
from ingressctl.plan.writes import Apply


def stored(version: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "x",
            "namespace": "ns",
            "uid": "u",
            "resourceVersion": str(version),
            "managedFields": [{"manager": "argocd", "time": "2026-01-01T00:00:00Z"}],
        },
        "spec": spec,
    }


def apply(now: dict[str, Any], **wanted: Any) -> Apply:
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "x", "namespace": "ns"},
        "spec": wanted,
    }
    return Apply(ref_of(body), body, "u", now, {**now, "spec": wanted})


def codes(contests: Contests, what: Apply) -> list[str]:
    return [finding.code for finding in contests.findings(what.ref)]


def test_what_the_server_stores_otherwise_is_trimmed_once_and_then_let_be() -> None:
    """The same body is not sent to the same version a third time."""
    contests = Contests()
    what = apply(stored(1, port=80, extra=1), port=80)
    assert contests.judge(what, 0.0) == "apply"
    contests.wrote(what.ref, stored(2, port=80, extra=1), "apply")
    what = apply(stored(2, port=80, extra=1), port=80)
    assert contests.judge(what, 1.0) == "trim"
    contests.wrote(what.ref, stored(3, port=80, extra=1), "trim")
    what = apply(stored(3, port=80, extra=1), port=80)
    for again in range(5):
        assert contests.judge(what, 2.0 + again) == "leave"
    found = contests.findings(what.ref)
    assert [finding.code for finding in found] == ["IC7103"]
    assert "spec.extra" in findings.message(found[0])


def test_a_fight_is_given_up_after_three_rewrites_within_a_minute() -> None:
    contests = Contests()
    version, steps = 1, []
    for turn in range(TIMES + 1):
        what = apply(stored(version, port=99), port=80)
        steps.append(contests.judge(what, turn * (WITHIN / TIMES)))
        contests.wrote(what.ref, stored(version + 1, port=80), "apply")
        version += 2
    assert steps == ["apply"] * TIMES + ["leave"]
    now = WITHIN
    assert contests.judge(what, now) == "leave"
    assert "argocd" in findings.message(contests.findings(what.ref)[0])
    later = now + REST + 1
    assert contests.judge(apply(stored(version, port=99), port=80), later) == "apply"


def test_a_fight_is_over_when_something_else_is_wanted() -> None:
    """An edit by a person reaches an object that was left to somebody else."""
    contests = Contests()
    for turn in range(TIMES + 1):
        what = apply(stored(2 * turn + 1, port=99), port=80)
        last = contests.judge(what, float(turn))
        contests.wrote(what.ref, stored(2 * turn + 2, port=80), "apply")
    assert last == "leave"
    assert contests.judge(apply(stored(50, port=99), port=81), 10.0) == "apply"


def test_slow_changes_by_others_are_no_fight() -> None:
    contests = Contests()
    for turn in range(TIMES * 3):
        what = apply(stored(2 * turn + 1, port=99), port=80)
        assert contests.judge(what, turn * WITHIN) == "apply"
        contests.wrote(what.ref, stored(2 * turn + 2, port=80), "apply")


def test_another_body_begins_anew() -> None:
    """A person edits the service again and again: that is work, not a fight."""
    contests = Contests()
    for turn in range(TIMES * 3):
        what = apply(stored(turn + 1, port=turn), port=turn + 1)
        assert contests.judge(what, float(turn)) == "apply"
        contests.wrote(what.ref, stored(turn + 2, port=turn + 1), "apply")
    contests.forget(what.ref)
    assert contests.judge(what, 100.0) == "apply"


def test_what_is_left_over_is_taken_out_and_nothing_else() -> None:
    now = stored(1, port=80, extra={"a": 1, "b": 2}, rules=[1, 2], kept="x")
    now["metadata"]["labels"] = {"mine": "1", "old": "1"}
    whole = stored(1, port=80, extra={"a": 1}, rules=[1], kept="x")
    whole["metadata"]["labels"] = {"mine": "1"}
    what = Apply(ref_of(now), whole, "u", now, whole)
    assert leftover(what) == {
        "metadata": {"labels": {"old": None}},
        "spec": {"extra": {"b": None}, "rules": [1]},
    }
    assert set(differing(what)) == {"metadata.labels", "spec.extra", "spec.rules"}
    assert leftover(Apply(ref_of(now), now, "u", now, now)) == {}
