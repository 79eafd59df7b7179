"""Label selectors are read as kubectl reads them."""

from __future__ import annotations

import pytest

from ingressctl.api import selectors

LABELS = {"team": "a", "stage": "live", "example.com/tier": "1", "empty": ""}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", True),
        ("  ", True),
        ("team=a", True),
        ("team==a", True),
        ("team = a , stage=live", True),
        ("team=b", False),
        ("team!=b", True),
        ("other!=b", True),
        ("team", True),
        ("other", False),
        ("!other", True),
        ("! team", False),
        ("team in (a,b)", True),
        ("team in (c, d)", False),
        ("other in (a)", False),
        ("team notin (a)", False),
        ("other notin (a)", True),
        ("example.com/tier=1", True),
        ("empty=", True),
        ("team in (a),stage!=dead,!other", True),
        ("team in (a),stage=dead", False),
    ],
)
def test_who_is_meant(text: str, meant: bool) -> None:
    assert selectors.parse(text).selects(LABELS) == meant


@pytest.mark.parametrize(
    "text",
    ["=a", "a=b=c", "a in b", "a in (b", "a,,b", "a,", ",", "a b", "a!", "!", "-a=b", "a in (b))"],
)
def test_what_is_no_selector(text: str) -> None:
    with pytest.raises(selectors.BadSelector):
        selectors.parse(text)
