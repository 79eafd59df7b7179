"""Strategic merge of a runtime's container and the service's (spec/kserve-runtimes.md 8)."""

from __future__ import annotations

import pytest

from ingressctl.sources.kserve.components import merging


@pytest.mark.parametrize(
    ("base", "patch", "order"),
    [
        ("", "xy", "xy"),
        ("ab", "", "ab"),
        ("ab", "x", "xab"),
        ("ab", "b", "ab"),
        ("ab", "ba", "ba"),
        ("ab", "xb", "xab"),
        ("abc", "bx", "abxc"),
    ],
)
def test_order_of_merged_lists(base: str, patch: str, order: str) -> None:
    """New entries go before those of the base that the patch does not name, unless these
    stood before an entry of both."""

    def ports(letters: str) -> list[dict[str, object]]:
        return [{"containerPort": ord(letter), "name": letter} for letter in letters]

    merged = merging.strategic({"ports": ports(base)}, {"ports": ports(patch)})
    assert "".join(port["name"] for port in merged["ports"]) == order


def test_arguments_are_joined_and_other_lists_replaced() -> None:
    base = {"args": ["--a"], "command": ["server"], "envFrom": [{"prefix": "a"}]}
    patch = {"args": ["--b"], "command": [], "envFrom": [{"prefix": "b"}]}
    assert merging.container(base, patch) == {
        "args": ["--a", "--b"],
        "command": ["server"],
        "envFrom": [{"prefix": "b"}],
    }


def test_a_variable_has_one_source() -> None:
    base = {"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}, {"name": "B", "value": "1"}]}
    patch = {"env": [{"name": "A", "value": "2"}, {"name": "B", "valueFrom": {"x": 1}}]}
    assert merging.strategic(base, patch)["env"] == patch["env"]


def test_maps_are_merged_key_by_key() -> None:
    base = {"resources": {"limits": {"cpu": "1", "memory": "2Gi"}}}
    patch = {"resources": {"limits": {"cpu": "4"}, "requests": {}}}
    merged = merging.strategic(base, patch)
    assert merged == {"resources": {"limits": {"cpu": "4", "memory": "2Gi"}}}
    assert base == {"resources": {"limits": {"cpu": "1", "memory": "2Gi"}}}, "nothing is changed"


def test_a_canary_replaces_lists_and_joins_maps() -> None:
    stable = {"args": ["--a"], "labels": {"x": "1"}, "timeout": 5}
    own = {"args": ["--b"], "labels": {"y": "2"}, "timeout": 0, "name": ""}
    assert merging.overlay(stable, own) == {
        "args": ["--b"],
        "labels": {"x": "1", "y": "2"},
        "timeout": 0,
    }
