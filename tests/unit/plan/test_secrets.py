"""Secrets in what people are shown: that a value changes is seen, the value never."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, ref_of
from ingressctl.plan import diff

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
OLD, NEW = "aHVudGVyMQ==", "aHVudGVyMg=="


def secret(**fields: Any) -> Raw:
    copy = {APPLIED: f'{{"data":{{"k":"{OLD}"}}}}'}
    meta = {"name": "s", "namespace": "d", "annotations": copy}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, **fields}


def changed(before: Raw, after: Raw) -> diff.Change | None:
    return diff.change(ref_of(after), before, after, everything=True)


def test_a_changed_value_is_a_change_without_the_value() -> None:
    found = changed(secret(data={"k": OLD, "same": OLD}), secret(data={"k": NEW, "same": OLD}))
    assert found is not None
    text = "\n".join(diff.unified(found))
    assert '-  k: "*** (before)"' in text
    assert '+  k: "*** (after)"' in text
    assert '   same: "***"' in text
    assert OLD not in text
    assert NEW not in text


def test_values_as_people_write_them_are_those_that_are_stored() -> None:
    assert changed(secret(data={"k": OLD}), secret(stringData={"k": "hunter1"})) is None
    assert changed(secret(data={"k": OLD}), secret(stringData={"k": "hunter2"})) is not None
