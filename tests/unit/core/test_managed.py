"""Who wrote what: by all of managedFields and by the digest alike."""

from __future__ import annotations

from typing import Any

from ingressctl.core import managed


def entry(manager: str, *keys: str, time: str = "2026-01-01T00:00:00Z", **more: Any) -> Any:
    labels = {f"f:{key}": {} for key in keys}
    return {
        "manager": manager,
        "operation": "Apply",
        "time": time,
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}, **labels}}, "f:spec": {"f:x": {}}},
        **more,
    }


def obj(*entries: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "x", "labels": {"a": "1"}, "managedFields": list(entries)},
        "spec": {"x": 1},
    }


OURS, KSERVE = managed.manager_of("InferenceService"), "manager"


def test_our_keys_are_those_of_our_controllers_and_of_kserve() -> None:
    found = managed.own_keys(
        obj(entry(OURS, "a/b"), entry(KSERVE, "c"), entry("kubectl", "d")), "labels"
    )
    assert found == {"a/b", "c"}
    assert managed.own_keys(obj(), "labels") == frozenset()


def test_the_last_write_of_ours_counts_and_no_status() -> None:
    stored = obj(
        entry(OURS, time="2026-01-01T00:00:01Z"),
        entry("ingressctl-other", time="2026-01-01T00:00:02Z"),
        entry("kubectl", time="2026-01-01T00:00:03Z"),
        entry(OURS, time="2026-01-01T00:00:04Z", subresource="status"),
    )
    when = managed.written_at(stored)
    assert when is not None
    assert when.second == 2
    assert managed.written_at(obj(entry("kubectl"))) is None


def test_others_are_told_the_latest_first() -> None:
    stored = obj(
        entry("early", time="2026-01-01T00:00:01Z"),
        entry("late", time="2026-01-01T00:00:03Z"),
        entry("early", time="2026-01-01T00:00:02Z"),
        entry(OURS),
        entry("status", subresource="status"),
    )
    assert managed.others(stored) == ("late", "early")


def test_a_digest_answers_the_same_and_is_its_own_digest() -> None:
    stored = obj(entry(OURS, "a"), entry(KSERVE, "b"), entry("kubectl", "c"))
    short = managed.digest(stored)
    assert managed.own_keys(short, "labels") == managed.own_keys(stored, "labels") == {"a", "b"}
    assert managed.written_at(short) == managed.written_at(stored)
    assert managed.others(short) == managed.others(stored)
    assert "'f:c'" not in str(short), "of somebody else no field is asked for"
    assert short["spec"] == stored["spec"]
    assert managed.digest(short) == short
    bare = {"metadata": {"name": "x"}}
    assert managed.digest(bare) is bare
