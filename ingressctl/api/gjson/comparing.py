"""The comparison of a query: one value of a document against the operand of the condition.

The type of the value decides how the operand is read. Of a number that is compared with a
word gjson makes a comparison with 0; with `typed` values of different types are different
instead (IG-D34), and of `0.5 && b<1` the number at its start counts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ingressctl.api.gjson.documents import MISSING
from ingressctl.api.gjson.likes import like

Test = Callable[[Any], bool]

ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TRUE_WORDS = frozenset({"1", "t", "true"})
_FALSE_WORDS = frozenset({"0", "f", "false"})


def test(op: str, operand: str, *, typed: bool) -> Test:
    """Whether a value, MISSING among them, holds against the operand."""
    if operand[:1] == "~":
        return _ish(op, operand[1:])
    if not op:
        return lambda value: value is not MISSING
    of_text, of_number = _of_text(op, operand), _of_number(op, operand, typed=typed)
    of_true, of_false = _of_boolean(op, operand)

    def holds(value: Any) -> bool:
        if isinstance(value, str):
            return of_text(value)
        if value is True:
            return of_true
        if value is False:
            return of_false
        return isinstance(value, int | float) and of_number(value)

    return holds


def _of_text(op: str, operand: str) -> Callable[[str], bool]:
    if op in ORDERS:
        order = ORDERS[op]
        return lambda value: order(value, operand)
    fits = like(operand)
    if op == "%":
        return fits
    return lambda value: op == "!%" and not fits(value)


def _of_number(op: str, operand: str, *, typed: bool) -> Callable[[float], bool]:
    order = ORDERS.get(op)
    number = number_of(operand)
    if order is None:
        return _never
    if number is None and typed:
        number = _leading_number(operand)
    if number is None and typed:
        return _always if op == "!=" else _never
    right = number or 0.0
    return lambda value: order(as_float(value), right)


def _of_boolean(op: str, operand: str) -> tuple[bool, bool]:
    """What true and false give: as the words they are, and never more than the other side."""
    of_true = {
        "=": operand == "true",
        "!=": operand != "true",
        ">": operand == "false",
        ">=": True,
    }
    of_false = {
        "=": operand == "false",
        "!=": operand != "false",
        "<": operand == "true",
        "<=": True,
    }
    return of_true.get(op, False), of_false.get(op, False)


def _ish(op: str, word: str) -> Test:
    """``~true`` and the like: what may pass for it, as a boolean compared with true."""
    passes = {"*": _exists, "null": _nullish, "true": _trueish, "false": _falseish}.get(word)
    if passes is None:
        return _never
    of_true, of_false = _of_boolean(op, "true") if op else (True, True)
    return lambda value: of_true if passes(value) else of_false


def _never(value: Any) -> bool:
    return False


def _always(value: Any) -> bool:
    return True


def _exists(value: Any) -> bool:
    return value is not MISSING


def _nullish(value: Any) -> bool:
    return value is None or value is MISSING


def _trueish(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in _TRUE_WORDS
    return isinstance(value, int | float) and value != 0


def _falseish(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in _FALSE_WORDS
    return _nullish(value) or (isinstance(value, int | float) and value == 0)


def number_of(operand: str) -> float | None:
    """The operand as the number that it spells, as Go reads one; None for a word."""
    if _is_foreign(operand):
        return None
    try:
        if operand[:4].lower().lstrip("+-").startswith("0x"):
            return float.fromhex(operand) if "p" in operand.lower() else None
        return float(operand)
    except ValueError:
        return None
    except OverflowError:
        return float("-inf" if operand[0] == "-" else "inf")


def _leading_number(operand: str) -> float | None:
    """The number with which an operand begins that was meant as more than that."""
    start, space, _ = operand.partition(" ")
    return number_of(start) if space else None


def _is_foreign(operand: str) -> bool:
    """Whether Python would take spaces or foreign digits that Go does not."""
    return not operand.isascii() or operand != operand.strip()


def as_float(value: float) -> float:
    """A number of a document, integers rounded as 64-bit floats are."""
    try:
        return float(value)
    except OverflowError:
        return float("-inf") if value < 0 else float("inf")
