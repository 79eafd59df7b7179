"""One object that no decoder takes hides no other."""

from __future__ import annotations

import orjson
import pytest

from ingressctl.cluster import decoding


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def stored(name: str, spec: bytes) -> bytes:
    head = orjson.dumps({"name": name, "namespace": "a", "resourceVersion": "7"})
    return b'{"kind":"InferenceService","metadata":' + head + b',"spec":' + spec + b"}"


def test_a_list_with_an_object_that_is_too_deep() -> None:
    items = b",".join([stored("one", b"{}"), stored("odd", deep(3000)), stored("two", b"{}")])
    body = decoding.body(b'{"metadata":{"resourceVersion":"9"},"items":[' + items + b"]}")
    assert [item["metadata"]["name"] for item in body["items"]] == ["one", "odd", "two"]
    assert body["items"][1]["spec"] == decoding.HOLLOW
    assert body["metadata"] == {"resourceVersion": "9"}


def test_an_event_of_an_object_that_is_too_deep() -> None:
    event = decoding.event(b'{"type":"ADDED","object":' + stored("odd", deep(3000)) + b"}")
    assert event["type"] == "ADDED"
    assert event["object"]["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"type":"ADDED","obj', b"<html>"])
def test_half_an_answer_is_none(raw: bytes) -> None:
    with pytest.raises(ValueError):
        decoding.event(raw)
    with pytest.raises(ValueError):
        decoding.body(raw)
