"""The switch `compat`: what it takes, what it refuses."""

from __future__ import annotations

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


def test_no_id_stands_in_two_rows() -> None:
    ids = [identity for row in differences.TABLE for identity in row.ids]
    assert len(ids) == len(set(ids))


def test_every_row_says_what_and_why() -> None:
    for row in differences.TABLE:
        for text in (row.reference, row.better, row.why):
            assert text.endswith("."), row.id
