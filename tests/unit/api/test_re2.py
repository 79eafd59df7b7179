"""Proxies' regular expressions, as RE2 and Envoy read them."""

from __future__ import annotations

import time

import pytest

from ingressctl.api import re2


@pytest.mark.parametrize(
    ("pattern", "text", "takes"),
    [
        (r"^/v1/models/[\w-]+:explain$", "/v1/models/a-b:explain", True),
        (r"^/v1/models/[\w-]+:explain$", "/v1/models/a.b:explain", False),
        ("/v1", "/v1/more", False),  # the whole string, always
        ("a$", "a\n", False),  # Python's $ would stop before the newline
        (r"a\z", "a", True),
        ("(?i)^Iris$", "iRIS", True),
        ("^(?i)iris$", "IRIS", True),  # flags in the middle, which Python refuses
        ("a(?i)b|c", "C", True),  # they hold for the branches that follow
        ("a(?i)b|c", "AB", False),
        ("(a(?i)b)c", "aBc", True),
        ("(a(?i)b)c", "aBC", False),  # and end with their group
        ("(?i:a)b", "AB", False),
        (r"\Qa.b\E+", "a.bbb", True),
        ("[[:alpha:]_]+", "ab_", True),
        ("[^[:digit:]]", "7", False),
        ("[]a]+", "]a", True),
        ("[a|b&&]", "&", True),
        (r"\x{41}", "A", True),
        ("(?P<x>a)(?<y>b)", "ab", True),
        ("a{2,3}?", "aaa", True),
        ("x{", "x{", True),
        (r"\d", "\u0663", False),  # RE2 knows ASCII digits only
        ("(?:[^/]+/)*x", "a/b/x", True),
    ],
)
def test_what_a_pattern_takes(pattern: str, text: str, takes: bool) -> None:
    assert re2.full_match(pattern, text) is takes


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(?>a)", r"(a)\1", "a*+", "a**", "(", "[a", ")",
     "a{2000}", r"\pL", "(?P=x)", "(?#x)", "*"],
)  # fmt: skip
def test_what_re2_refuses_is_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(re2.PatternFault, match=r"\w+ \w+"):
        re2.compiled(pattern)
    assert re2.fault(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a*)*", "((a|b+))*", "(a?b*)+", "(a+){2,}"])
def test_a_repeated_repetition_never_hangs(pattern: str) -> None:
    start = time.process_time()
    with pytest.raises(re2.PatternFault, match="repeats a repetition"):
        re2.full_match(pattern, "a" * 60)
    assert time.process_time() - start < 1


def test_rewrites_replace_every_match_with_groups() -> None:
    assert re2.replace_all("^/x(/.*)$", r"\1", "/x/y") == "/y"
    assert re2.replace_all("a", r"<\0>", "aba") == "<a>b<a>"
