"""Pictures of graphs: every step is shown, loops end, and whatever names say, forms stay whole."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api import inferencegraphs
from ingressctl.plan.drawing import dot, graphs, mermaid, svg, tree
from ingressctl.plan.drawing.boxes import Box, Line, Picture

SVG = "{http://www.w3.org/2000/svg}"
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)
ROUTERS = st.sampled_from(["Sequence", "Splitter", "Ensemble", "Switch"])


def picture(**nodes: Any) -> Picture:
    return graphs.draw("InferenceGraph a/g", inferencegraphs.of_raw({"nodes": nodes}))


def node(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"routerType": kind, "steps": list(steps)}


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    """Any graph: loops, nodes that are not there, names that mean something to a form."""
    names = ["root", *draw(st.lists(TEXTS, max_size=4, unique=True))]
    target = st.one_of(
        st.fixed_dictionaries({"nodeName": st.sampled_from([*names, "nobody"])}),
        st.fixed_dictionaries({"serviceName": TEXTS}),
        st.fixed_dictionaries({"serviceUrl": TEXTS}),
    )
    more = st.fixed_dictionaries(
        {}, optional={"name": TEXTS, "condition": TEXTS, "weight": st.integers(-5, 200)}
    )
    step = st.tuples(target, more).map(lambda pair: pair[0] | pair[1])
    found = {name: node(draw(ROUTERS), *draw(st.lists(step, max_size=4))) for name in names}
    return picture(**found)


def test_a_splitter_shows_shares_by_the_sum_of_its_weights() -> None:
    shown = picture(
        root=node("Splitter", {"serviceName": "a", "weight": 1}, {"serviceName": "b", "weight": 3})
    )
    assert [line.text for line in shown.lines] == ["1\n25 %", "2\n75 %"]


def test_a_switch_shows_conditions_and_the_default() -> None:
    shown = picture(
        root=node("Switch", {"condition": "a.b", "serviceName": "x"}, {"serviceName": "y"})
    )
    assert [line.text for line in shown.lines] == ["1\nif a.b", "2\notherwise"]


def test_a_fallback_is_a_line_of_its_own() -> None:
    steps = {"serviceName": "a", "fallback": {"nodeName": "spare"}}
    shown = picture(root=node("Sequence", steps), spare=node("Sequence", {"serviceName": "b"}))
    (fallback,) = (line for line in shown.lines if line.dashed)
    assert fallback.end == "node spare"


def test_a_loop_is_drawn_once() -> None:
    shown = picture(
        root=node("Sequence", {"nodeName": "next"}), next=node("Sequence", {"nodeName": "root"})
    )
    assert [box.text for box in shown.boxes] == ["root\nSequence", "next\nSequence"]
    assert list(tree.write(shown))[-1].endswith("root · Sequence (see above)")


def test_a_node_that_is_not_there_is_told() -> None:
    shown = picture(root=node("Sequence", {"nodeName": "nobody"}))
    assert [box.text for box in shown.boxes if box.shape == "missing"] == ["nobody\nnot there"]


def test_a_node_that_nothing_leads_to_stands_for_itself() -> None:
    shown = picture(root=node("Sequence", {"serviceName": "a"}), lost=node("Switch"))
    assert [box.key for box in shown.entries()] == ["node root", "node lost"]


def test_a_terminal_without_utf8_gets_ascii() -> None:
    shown = picture(root=node("Sequence", {"serviceName": "a"}, {"serviceName": "b"}))
    assert "\n".join(tree.write(shown, tree.ASCII)).isascii()


@given(pictures())
def test_the_tree_tells_every_box(shown: Picture) -> None:
    lines = list(tree.write(shown))
    for box in shown.boxes:
        assert any(box.text.replace("\n", " · ") in line for line in lines)


@given(pictures())
def test_svg_is_xml_with_every_box_and_none_over_another(shown: Picture) -> None:
    root = ElementTree.fromstring("\n".join(svg.write(shown)))
    boxes = [
        tuple(float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
    ]
    assert len(boxes) == len(shown.boxes)
    for number, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[:number]:
            apart = x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
            assert apart
    paths = [path for path in root.iter(f"{SVG}path") if "marker-end" in path.attrib]
    assert len(paths) == len({(line.start, line.end, line.dashed) for line in shown.lines})


def test_lines_between_the_same_boxes_do_not_hide_one_another() -> None:
    steps = ({"condition": name, "nodeName": "next"} for name in ("a", "b"))
    shown = picture(root=node("Switch", *steps), next=node("Sequence", {"serviceName": "x"}))
    root = ElementTree.fromstring("\n".join(svg.write(shown)))
    places = [(text.attrib["x"], text.attrib["y"]) for text in root.iter(f"{SVG}text")]
    assert len(places) == len(set(places))
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert {"if a", "if b"} <= set(said)


def test_limits_of_a_step_are_shown() -> None:
    step = {"serviceName": "a", "timeout": "2s", "retries": {"attempts": 2}}
    assert picture(root=node("Sequence", step)).lines[0].text == "1\nwithin 2s\ntried 3 times"


def test_an_object_is_the_root_of_its_own_tree() -> None:
    lines = (Line("InferenceGraph a/g", "Service a/g"),)
    boxes = (
        Box("InferenceGraph a/g", "InferenceGraph a/g\nready"),
        Box("Service a/g", "Service a/g"),
    )
    shown = Picture("InferenceGraph a/g", boxes, lines)
    assert list(tree.write(shown)) == ["InferenceGraph a/g · ready", "└─ Service a/g"]


@given(pictures())
def test_dot_quotes_every_name(shown: Picture) -> None:
    """Without its quoted texts nothing of a name is left: a statement a box and a line."""
    text = "\n".join(dot.write(shown))
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "Q", text, flags=re.DOTALL)
    assert '"' not in bare
    statements = [line for line in bare.splitlines() if line.startswith("  Q")]
    assert len(statements) == len(shown.boxes) + len(shown.lines)


@given(pictures())
def test_mermaid_quotes_every_name(shown: Picture) -> None:
    lines = list(mermaid.write(shown))
    assert len(lines) == 1 + len(shown.boxes) + len(shown.lines)
    box = re.compile(r'  n\d+(\("[^"<>`]*"\)|\["[^"<>`]*"\]|\{\{"[^"<>`]*"\}\})')
    line = re.compile(r'  n\d+ -(\.-)?>(\|"[^"<>`]*"\|)? n\d+')
    for text in lines[1:]:
        plain = text.replace("<br>", " ").replace("-->", "->")
        assert box.fullmatch(plain) or line.fullmatch(plain), text


@pytest.mark.parametrize("form", [tree, dot, mermaid, svg])
def test_a_graph_without_nodes_is_still_a_picture(form: Any) -> None:
    assert list(form.write(picture()))
