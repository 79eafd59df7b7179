"""Paths as kubectl's users write them."""

from __future__ import annotations

import pytest

from ingressctl.plan import jsonpath

LIST = {
    "items": [
        {
            "metadata": {"name": "a", "annotations": {"ingressctl.dev/paused": "true"}},
            "status": {
                "url": "http://a",
                "conditions": [{"type": "Ready", "status": "False"}, {"type": "X", "status": "T"}],
            },
            "weights": [90, 10],
        },
        {"metadata": {"name": "b"}, "weights": [1, 2, 3]},
    ]
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (".items[*].metadata.name", "a b"),
        ("{.items[*].metadata.name}", "a b"),
        ("{$.items[0].metadata.name}", "a"),
        ("{.items[-1].metadata.name}", "b"),
        ("{.items[1].weights[0:2]}", "1 2"),
        ("{.items[1].weights[::2]}", "1 3"),
        ("{.items[1].weights[0,2]}", "1 3"),
        ("{.items[0].weights}", "[90,10]"),
        ("{..name}", "a b"),
        ("{.items[0]['status']['url']}", "http://a"),
        ("{.items[0].metadata['name','nothing']}", "a"),
        (r"{.items[0].metadata.annotations.ingressctl\.dev/paused}", "true"),
        ('{.items[0].status.conditions[?(@.type=="Ready")].status}', "False"),
        ("{.items[?(@.status)].metadata.name}", "a"),
        ("{.items[?(@.weights[0]<2)].metadata.name}", "b"),
        ("{.items[?(@.metadata.name>1)].metadata.name}", ""),
        ('{range .items[*]}{.metadata.name}{"\\t"}{.weights[0]}{"\\n"}{end}', "a\t90\nb\t1\n"),
        ("name: {.items[0].metadata.name}!", "name: a!"),
        ("{.nothing.there}", ""),
        ("{.items[0].metadata.name.more}", ""),
        ("{'{}'}", "{}"),
    ],
)
def test_a_path_picks(template: str, text: str) -> None:
    assert jsonpath.render(template, LIST) == text


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{.items[*}", "bracket is not closed"),
        ("{.items", "brace is not closed"),
        ("{range .items[*]}{.x}", "{range} has no {end}"),
        ("{end}", "stands without"),
        ("{items}", "is no path"),
        ("{.items[?(x)]}", "is no filter"),
        ("{.items[?(@.a==b)]}", "neither a number nor quoted"),
        ("{.items[::0]}", "cannot be 0"),
        ("{'open}", "is not closed"),
    ],
)
def test_what_cannot_be_read_is_told(template: str, says: str) -> None:
    with pytest.raises(jsonpath.PathFault, match=says.replace("{", r"\{")):
        jsonpath.render(template, LIST)
