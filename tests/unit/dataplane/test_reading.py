"""Texts that are no graph: the fault names the file, the line and the language."""

from __future__ import annotations

import pytest

from ingressctl.core.differences import BETTER
from ingressctl.dataplane.router import graphs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nodes:\n  root:\n   routerType: Switch\n  steps: : x\n", "line 4: the graph is not YAML"),
        ("nodes: {}\n---\nnodes: {}\n", "line 3: a second document"),
        ("- nodes\n", "line 1: the graph is no mapping"),
        ("# nothing\n", "the graph is empty"),
        ("{nodes: [}\n", "line 1: the graph is not YAML"),
        ("a: " + "[" * 20_000, "nesting"),
    ],
)
def test_a_fault_of_yaml_is_told_with_file_and_line(text: str, words: str) -> None:
    with pytest.raises(graphs.Unfit) as refusal:
        graphs.parse(text.encode(), BETTER, name="graph.yaml")
    ((cause, remedy),) = refusal.value.faults
    assert cause.startswith("graph.yaml")
    assert words in cause
    assert "JSON" not in cause
    assert remedy


def test_a_fault_of_json_is_told_with_file_and_line() -> None:
    with pytest.raises(graphs.Unfit) as refusal:
        graphs.parse(b'{"nodes":\n{"root" 1}}', BETTER, name="graph.json")
    ((cause, _),) = refusal.value.faults
    assert cause.startswith("graph.json, line 2: the graph is not JSON: ")
    with pytest.raises(graphs.Unfit, match="too deep"):
        graphs.parse(b"[" * 100_000, BETTER, name="graph.json")
    deep = b'{"nodes": {}, "affinity": {"a": %b}}' % (b"[" * 800 + b"]" * 800)
    with pytest.raises(graphs.Unfit, match="too deep"):
        graphs.parse(deep, BETTER, name="graph.json")


def test_a_wrong_type_is_told_with_its_path_and_the_right_form() -> None:
    text = b"nodes: {root: {routerType: Sequence, steps: [{serviceUrl: 'http://a/', retries: 2}]}}"
    with pytest.raises(graphs.Unfit) as refusal:
        graphs.parse(text + b"\ntimeout: 5s", BETTER, name="graph.yaml")
    causes, remedies = zip(*refusal.value.faults, strict=True)
    assert all(cause.startswith("the graph cannot be read: spec.") for cause in causes)
    assert "write retries: {attempts: 2}" in remedies
    assert "write whole seconds without a unit: timeout: 5" in remedies
