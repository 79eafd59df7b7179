"""Conditions of graphs: shapes, faults of authors, odd documents; the table is in the cases."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingressctl.api import gjson
from ingressctl.api.gjson import conditions, swift

EXAMPLES = int(os.environ.get("INGRESSCTL_FUZZ", "2000"))


def holds(text: str, document: str | bytes, *, typed: bool = True) -> bool:
    raw = document.encode() if isinstance(document, str) else document
    condition = gjson.parse(text, typed=typed)
    by_tree = condition.looks(gjson.Document(raw))
    assert condition.exists(raw) == by_tree
    return by_tree


@pytest.mark.parametrize("path", ["a", "a.b", "a.0", '[@this].#(k=="x")'])
def test_the_first_of_a_key_that_stands_twice_counts(path: str) -> None:
    first = '{"a":{"b":1},"k":"x","a":[1],"k":"y"}'
    assert holds(path, first) == (path != "a.0")


@pytest.mark.parametrize("text", ["a", "@this", '[@this].#(a=="b")', "@keys"])
@pytest.mark.parametrize(
    "document",
    [
        *(
            b"",
            b"not json",
            b'{"a":1}{"a":2}',
            b'{"a":1,}',
            b'{"a":NaN}',
            b'{"a":1',
        ),
        *(b"[" * 200_000 + b"]" * 200_000, b'{"a":' * 20_000 + b"1" + b"}" * 20_000),
    ],
    ids=range(8),
)
def test_what_is_no_json_is_told_apart_from_what_is_missing(text: str, document: bytes) -> None:
    with pytest.raises(gjson.NotJson):
        gjson.parse(text).exists(document)
    assert not gjson.is_json(document)


@pytest.mark.parametrize(
    "text", ["k", "@this", '[@this].#(k!="x")', "@keys", "k|@tostr", '[@this].#(k%"J*rg")']
)
def test_texts_that_are_no_utf8_hide_nothing(text: str) -> None:
    """As in gjson, for which all bytes above the control characters may stand in a text."""
    raw = b'{"J\xf6rg":"","k":"J\xf6rg"}'
    assert gjson.is_json(raw)
    condition = gjson.parse(text)
    assert condition.exists(raw)
    assert condition.looks(gjson.Document(raw))
    for broken in (b'{"k":1}\xf6', b'{"k":\xf6}', b'{"k":"\\\xf6"}', b'{"k":"\xf6}'):
        with pytest.raises(gjson.NotJson):
            condition.exists(broken)
        assert not gjson.is_json(broken)


def test_what_has_to_be_utf8_stays_as_it_is_if_it_is() -> None:
    good = '{"k":"Jörg"}'.encode()
    assert gjson.in_utf8(good) is good
    assert gjson.in_utf8(b'{"k":"J\xf6rg"}') == '{"k":"J\ufffdrg"}'.encode()


@pytest.mark.parametrize("text", ["kind", "@this", "[@this].#(kind==1)"])
def test_a_key_beside_deep_nesting_is_found(text: str) -> None:
    condition = gjson.parse(text)
    for inner in (b"[" * 5000 + b"]" * 5000, b'{"a":' * 5000 + b"1" + b"}" * 5000):
        raw = b'{"deep":%b,"kind":1}' % inner
        assert condition.exists(raw)
        assert gjson.is_json(raw, deep=True)
        assert not gjson.is_json(raw)
        assert not gjson.is_json(raw[:-1], deep=True)
        with pytest.raises(gjson.NotJson):
            condition.exists(raw[:-1])


def test_conditions_of_one_document_check_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[bytes] = []
    good = swift.is_json
    monkeypatch.setattr(swift, "is_json", lambda body, **_: not checked.append(body) and good(body))
    for body in (b'{"a":1}', b'{"b":2}'):
        document = gjson.Document(body)
        found = [gjson.parse(text).holds(document) for text in ("a", "b", "c")]
        assert found == [body == b'{"a":1}', body == b'{"b":2}', False]
    assert checked == [b'{"a":1}', b'{"b":2}']


def test_a_document_with_many_brackets_that_is_not_deep_is_judged() -> None:
    document = json.dumps({"a": [[1]] * 10_000, "k": "v"}).encode()
    assert gjson.parse('[@this].#(k=="v")').exists(document)
    assert gjson.parse("a.9999.0").exists(document)


@pytest.mark.parametrize(
    ("text", "typed", "untyped"),
    [
        ("a.#(x==abc)", False, True),
        ("a.#(x!=abc)", True, False),
        ("a.#(x>=abc)", False, True),
        ('a.#(x=="0")', True, True),
        ("a.#(s==abc)", True, True),
        ("a.#(y>0.5 && y<0.6)", True, True),
        ("a.#(y>0.9 && y<0.6)", False, True),
        ("a.#(y==2024-01-01)", False, False),
        ("a.#(s==1)", False, False),
        ("a.#(t==1)", False, False),
    ],
)
def test_a_number_never_equals_a_word_when_types_count(
    text: str, *, typed: bool, untyped: bool
) -> None:
    document = '{"a":[{"x":0,"y":0.7,"s":"abc","t":true}]}'
    assert holds(text, document, typed=True) == typed
    assert holds(text, document, typed=False) == untyped


def test_a_key_below_another_of_its_own_name_is_not_found_above_it() -> None:
    """pygjson alone finds it there, which is why it is only asked for one key at a time."""
    assert not holds("b.c", '{"b":{"b":{"c":1}}}')
    assert holds("b.b.c", '{"b":{"b":{"c":1}}}')


@pytest.mark.parametrize(
    ("text", "always"),
    [
        ("@this", True),
        ("{ .input.userId == 1 }", True),
        ('instances.#(a=="b")#', True),
        ('instances.#(a=="b")#.c', True),
        ("instances.#.a", True),
        ('instances.#(a=="b")#|0', False),
        ('instances.#(a=="b")', False),
        ("instances.#", False),
        ("!true", True),
        ('[@this].#(a=="b")', False),
        ("a.b", False),
    ],
)
def test_conditions_that_are_always_true_are_known(text: str, *, always: bool) -> None:
    assert gjson.parse(text).always == always


@pytest.mark.parametrize("text", ['a.#(b=="c"', "[a,b", '{"k":a', "#[x", 'a.#(b=="c)'])
def test_what_is_never_closed_is_refused_and_has_a_meaning_on_request(text: str) -> None:
    with pytest.raises(gjson.Unusable, match="never closed"):
        gjson.parse(text)
    assert isinstance(gjson.parse(text, lenient=True).exists(b'{"a":[1]}'), bool)


@pytest.mark.parametrize("text", ["a" * 4001, ".".join("a" * 100), "[" * 100 + "a" + "]" * 100])
def test_what_is_too_long_or_too_deep_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(gjson.Unusable) as refused:
        gjson.parse(text, lenient=True)
    assert len(str(refused.value)) < 200


def test_a_pattern_of_many_stars_takes_no_time_to_fail() -> None:
    pattern = "*".join("a" * 20) + "*b"
    assert not holds(f'[@this].#(k%"{pattern}")', json.dumps({"k": "a" * 50_000}))


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("?", "é", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a?c*e", "abcde", True),
        ("*b*b", "ab", False),
        ("**a", "ba", True),
        ("a\\\\", "a\\", True),
        ("\n?", "\n\n", True),
    ],
)
def test_patterns(pattern: str, text: str, *, fits: bool) -> None:
    quoted = json.dumps(pattern)
    assert holds(f"[@this].#(k%{quoted})", json.dumps({"k": text})) == fits


KEYS = ("a", "b", "0", "1", "a")
SCALARS: tuple[Any, ...] = (
    *(0, 1, -1, 2.5, "", "a", "b", "true", "1", "é", None, True, False, "10", 10, 2**63, 10**30),
    *("1e0", 9007199254740993, 'q"\\u', "\ud800"),
)
OPERANDS = (
    *("1", "0", "-1", "2.5", "abc", "a", "true", "10", "1e0", "null", "-0", "1.", "inf"),
    *("a*", "?", "*1*", "a b", "0.5 && b<0.6", "{a}", "/x:y", "é"),
)
OPERATORS = ("=", "==", "!=", "<", "<=", ">", ">=", "%", "!%", " == ")


def _document(rnd: random.Random, depth: int = 0) -> Any:
    kind = rnd.random()
    if depth > 3 or (depth and kind < 0.3):
        return rnd.choice(SCALARS)
    if kind < 0.65:
        return {rnd.choice(KEYS): _document(rnd, depth + 1) for _ in range(rnd.randint(0, 4))}
    return [_document(rnd, depth + 1) for _ in range(rnd.randint(0, 3))]


def _keys(rnd: random.Random, least: int) -> str:
    return ".".join(rnd.choice(KEYS) for _ in range(rnd.randint(least, 3)))


def _condition(rnd: random.Random) -> str:
    if rnd.random() < 0.3:
        return _keys(rnd, 1)
    word = rnd.choice(OPERANDS)
    word = f'"{word}"' if rnd.random() < 0.4 else word
    query = f"#({_keys(rnd, 1)}{rnd.choice(OPERATORS)}{word})"
    if rnd.random() < 0.5:
        return f"[@this].{query}"
    behind = _keys(rnd, 0)
    return f"{_keys(rnd, 1)}.{query}" + (f".{behind}" if behind else "")


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(), st.booleans())
def test_both_ways_of_looking_agree(seed: int, typed: bool) -> None:
    rnd = random.Random(seed)
    text = _condition(rnd)
    document = json.dumps(_document(rnd), indent=rnd.choice((None, 1))).encode()
    condition = gjson.parse(text, typed=typed)
    assert condition.is_swift
    assert condition.exists(document) == condition.looks(gjson.Document(document)), (text, document)


PIECES = (
    *'ab01.|#()[]{}@!"\\*?=<>~%:, é',
    *("@keys", "@dig:a", "@flatten", "@group", "@tostr", "@fromstr", "#(", ")#", "[@this]", "..#"),
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.integers())
def test_any_text_is_a_condition_or_refused(text: str, seed: int) -> None:
    document = json.dumps(_document(random.Random(seed))).encode()
    condition = gjson.parse(text, lenient=True)
    assert isinstance(condition.exists(document), bool)


def test_conditions_do_without_pygjson() -> None:
    """As on a platform without its wheel."""
    code = (
        "import sys; sys.modules['pygjson'] = None\n"
        "from ingressctl.api import gjson\n"
        "found = gjson.parse('a.b')\n"
        'assert not found.is_swift and found.exists(b\'{"a":{"b":1}}\')'
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_conditions_are_compiled_once() -> None:
    assert gjson.parse("a.b.c") is gjson.parse("a.b.c")
    assert sys.get_int_max_str_digits() > conditions.MAX_LENGTH
