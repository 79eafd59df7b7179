"""The switch `compat`: what it takes, what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingressctl.core import differences
from ingressctl.core.differences import BETTER, KSERVE, Compat, UnknownDifference


def test_kserve_is_all_off_and_better_all_on() -> None:
    assert not any(KSERVE.differs(row.id) for row in differences.TABLE)
    assert all(BETTER.differs(row.id) for row in differences.TABLE)


def test_an_alias_switches_its_whole_row() -> None:
    compat = Compat.parse("kserve,+F47")
    assert compat.differs("Q4")
    assert not compat.differs("Q5")
    assert not Compat.parse("better,-Q4").differs("F47")


@pytest.mark.parametrize("text", ["", "best", "kserve,Q4", "kserve,+Q9999", "better,-", "kserve,*"])
def test_refuses_what_it_does_not_know(text: str) -> None:
    with pytest.raises(UnknownDifference):
        Compat.parse(text)


def test_what_always_holds_cannot_be_switched_off() -> None:
    assert KSERVE.differs("F110")
    assert Compat.parse("kserve,+F110").on == KSERVE.on
    with pytest.raises(UnknownDifference, match="cannot be switched off"):
        Compat.parse("better,-Q8")


def test_every_switch_is_asked_for_by_some_rule() -> None:
    """A switch that nothing asks for would promise a difference that is not there."""
    package = Path(differences.__file__).parents[1]
    code = "".join(
        path.read_text("utf-8")
        for path in package.rglob("*.py")
        if path != Path(differences.__file__)
    )
    asked = set(re.findall(r"differs\(\s*\"([A-Z0-9-]+)\"", code))
    idle = [row.id for row in differences.TABLE if not asked & set(row.ids)]
    assert idle == []


def test_no_id_stands_in_two_rows() -> None:
    rows = (*differences.TABLE, *differences.ALWAYS)
    ids = [identity for row in rows for identity in row.ids]
    assert len(ids) == len(set(ids))


def test_every_row_says_what_and_why() -> None:
    for row in differences.TABLE:
        for text in (row.reference, row.better, row.why):
            assert text.endswith("."), row.id
