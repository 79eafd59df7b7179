"""The README says what the program does today."""

from __future__ import annotations

import pytest

from ingressctl.plan import tables
from tests.readme import sections

PARTS = list(sections.PART.finditer(sections.README.read_text("utf-8")))


@pytest.mark.parametrize("part", PARTS, ids=[part["name"] for part in PARTS])
def test_part_is_what_the_program_prints(part: sections.re.Match[str]) -> None:
    """`make readme` brings it up to date."""
    assert part["body"] == sections.generate(part["name"])


def test_every_marker_is_closed() -> None:
    text = sections.README.read_text("utf-8")
    assert text.count("<!-- generated: ") == text.count("<!-- end -->") == len(PARTS)


def test_every_capability_is_described() -> None:
    assert tables.undescribed() == frozenset()
