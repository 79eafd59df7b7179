"""What is written as YAML is read back as it was, whatever it holds."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.plan import writing, yamltext

AWKWARD = st.text(alphabet="ab \n:-#'\"01.e{}[]&*!|>%@`,?~\\")
WORDS = st.sampled_from("y n no on 1e3 1:30 0x1f << null ~ 10s 2026-01-02 - :".split())
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), AWKWARD, WORDS)
KEYS = st.text(alphabet="ab:-# 1./~", min_size=1)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(KEYS, inner)),
    max_leaves=12,
)


@given(VALUES)
def test_our_reader_gets_the_value_back(value: Any) -> None:
    assert next(yamltext.load(writing.dump(value).encode())).value == value


@given(VALUES)
def test_any_yaml_reader_gets_the_value_back(value: Any) -> None:
    """PyYAML reads dates and 1:30 in its own way, so nothing of that kind may be plain."""
    assert yaml.load(writing.dump(value), yaml.CSafeLoader) == value


def test_lines_know_their_path() -> None:
    found = writing.lines({"spec": {"rules": [{"name": "a", "port": 1}]}})
    assert [(line.text, line.path) for line in found] == [
        ("spec:", "spec"),
        ("  rules:", "spec.rules"),
        ("  - name: a", "spec.rules[0]"),
        ("    port: 1", "spec.rules[0].port"),
    ]
