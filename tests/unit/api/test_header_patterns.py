"""Patterns of header names: what they may look like, so that no client's name stops a router."""

from __future__ import annotations

import pytest

from ingressctl.api import header_patterns, re2


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        ("Authorization", 1),
        ("X-[a-z]{8}(-ID){2}", 1),
        ("x-b3-.*", 129),
        ("X-(Foo|Bar)?-(a|b|c)-.+", 1536),
        ("[a-z]{1,8}", 8),
        ("a{3,}", 126),
        ("(a|b){3}", 8),
        ("(a?b?){1,2}", 32),
        ("a|b?|(c|d)(e|f)", 7),
        (r"\Qa*\E*(?i)b*", 129 * 129),
        ("(a|aa)+", re2.MANY),
        ("(a?){30}a{30}", re2.MANY),
        ("(a|b){1000}", re2.MANY),
    ],
)
def test_the_ways_of_a_pattern_are_counted(pattern: str, ways: int) -> None:
    assert re2.ways(pattern, 128) == ways


@pytest.mark.parametrize(
    "pattern", ["*Trace-Id*", "X-*-Tenant-*-Id", "x-b3-.*", "X-(Foo|Bar)-(a|b|c)?-.*", "a|b|.*c.*"]
)
def test_patterns_that_are_soon_decided_are_taken(pattern: str) -> None:
    assert not header_patterns.fault(pattern)
    assert not header_patterns.compiled(pattern).fullmatch("x-" + "a" * 126)


@pytest.mark.parametrize(
    "pattern",
    ["X-(a|aa)+Id", "X-(a|A)*Id", "(ab?|b)*", "(a?){30}a{30}", "(-?[a-z0-9]*){5}Id", ".*.*.*.*x"],
)
@pytest.mark.parametrize("whole", [True, False])
def test_patterns_that_a_name_could_be_tried_on_for_ever_are_refused(
    pattern: str, whole: bool
) -> None:
    assert "too many ways" in header_patterns.fault(pattern, whole=whole)
    with pytest.raises(re2.PatternFault):
        header_patterns.compiled(pattern, whole=whole)
