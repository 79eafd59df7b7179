"""Bytes become objects as Kubernetes tools read them, and every fault has its line."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.plan import manifests, yamltext

SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n"


def value_of(text: str) -> Any:
    return next(yamltext.load(f"v: {text}\n".encode())).value["v"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1:30", "1:30"),
        ("2026-01-02", "2026-01-02"),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("0x1f", 31),
        ("010", 8),
        ("0o10", 8),
        ("1_000", 1000),
        ("yes", True),
        ("off", False),
        ("n", False),
        ("~", None),
        ("", None),
        ("1.2.3", "1.2.3"),
        ("<none>", "<none>"),
    ],
)
def test_scalars_are_those_of_kubernetes(text: str, value: object) -> None:
    """sigs.k8s.io/yaml: YAML 1.1 without sexagesimal numbers and dates."""
    found = value_of(text)
    assert found == value
    assert type(found) is type(value)


def test_keys_become_text_as_in_json() -> None:
    assert next(yamltext.load(b"8080: a\ntrue: b\n")).value == {"8080": "a", "true": "b"}


def test_merge_keys_give_way_to_written_ones() -> None:
    text = b"base: &b {a: 1, b: 2}\nv:\n  <<: *b\n  b: 3\n"
    assert next(yamltext.load(text)).value["v"] == {"a": 1, "b": 3}


def test_documents_and_list_items_know_their_line() -> None:
    text = SERVICE.format(name="a") + "---\n# a comment\n" + SERVICE.format(name="b")
    text += "---\napiVersion: v1\nkind: ServiceList\nitems:\n- apiVersion: v1\n  kind: Service\n"
    text += "  metadata: {name: c}\n"
    parsed = manifests.parse(text.encode(), "f.yaml")
    assert [(item.obj["metadata"]["name"], item.origin.line) for item in parsed.documents] == [
        ("a", 1),
        ("b", 7),
        ("c", 15),
    ]


def test_json_and_yaml_give_the_same_objects() -> None:
    as_json = b'{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"x":1e3}}'
    as_yaml = SERVICE.format(name="a") + "spec:\n  x: 1e3\n"
    one = manifests.parse(as_json, "f.json").documents[0].obj
    assert one == manifests.parse(as_yaml.encode(), "f.yaml").documents[0].obj


def test_whole_numbers_are_integers_as_an_api_server_stores_them() -> None:
    text = SERVICE.format(name="a") + "spec:\n  x: [1e3, 100.0, 100.5, {a: -0.0}, 1e300]\n"
    found = manifests.parse(text.encode(), "f.yaml").documents[0].obj["spec"]["x"]
    assert repr(found) == "[1000, 100, 100.5, {'a': 0}, 1e+300]"


def test_a_key_that_stands_twice_is_a_notice_and_the_last_one_holds() -> None:
    parsed = manifests.parse(
        (SERVICE.format(name="a") + "spec: {a: 1}\nspec: {a: 2}\n").encode(), "f"
    )
    assert parsed.documents[0].obj["spec"] == {"a": 2}
    assert [(note.origin.line, "'spec'" in note.text) for note in parsed.notices] == [(6, True)]


@pytest.mark.parametrize(
    ("text", "line", "path", "says"),
    [
        ("a: [\n", 2, "", "not valid YAML"),
        ("a:\n\t- b\n", 2, "", "not valid YAML"),
        ("a: {{ .Values.x }}\n", 1, "", "not valid YAML"),
        ("a: &a [*a]\n", 1, "", "contains itself"),
        ("a: !secret b\n", 1, "", "unknown tag"),
        ("- a\n", 1, "", "is a list"),
        ("hello\n", 1, "", "is text"),
        ("kind: Service\n", 1, "", "no apiVersion"),
        ("a: 1\n", 1, "", "no apiVersion and no kind"),
        ("apiVersion: v1\nkind: Service\n", 1, "", "no metadata.name"),
        ("apiVersion: v1\nkind: 3\nmetadata: {name: a}\n", 2, "kind", "must be text"),
        (SERVICE.format(name="3"), 4, "metadata.name", "the number 3"),
        (
            SERVICE.format(name="a") + "  labels:\n    on: 'x'\n    live: true\n",
            7,
            "metadata.labels.live",
            "the boolean true",
        ),
        (
            SERVICE.format(name="a") + "  annotations:\n    example.com/x: 1\n",
            6,
            "metadata.annotations['example.com/x']",
            "the number 1",
        ),
        (SERVICE.format(name="a") + "spec: []\n", 5, "spec", "must be a mapping, not a list"),
        ("", 0, "", "holds no objects"),
        ("# only a comment\n---\n", 0, "", "holds no objects"),
    ],
)
def test_each_fault_has_line_path_and_remedy(text: str, line: int, path: str, says: str) -> None:
    (fault,) = manifests.parse(text.encode(), "f.yaml").faults
    assert (fault.origin.line, fault.path) == (line, path)
    assert says in fault.text
    assert fault.remedy


def test_every_fault_of_a_file_is_told_at_once() -> None:
    """Documents are read one by one when the whole does not parse."""
    text = "a: [\n---\n" + SERVICE.format(name="ok") + "---\nkind: X\n---\n}\n"
    parsed = manifests.parse(text.encode(), "f.yaml")
    assert [fault.origin.line for fault in parsed.faults] == [2, 8, 10]
    assert [item.obj["metadata"]["name"] for item in parsed.documents] == ["ok"]
    assert parsed.documents[0].origin.line == 3


@pytest.mark.parametrize("data", [b"\0\1\2", b"\xff\xfe\x00a", b"PK\x03\x04\0"])
def test_what_is_not_text_is_one_fault(data: bytes) -> None:
    (fault,) = manifests.parse(data, "f").faults
    assert "binary" in fault.text or "UTF-8" in fault.text


def test_aliases_that_expand_without_bound_are_refused() -> None:
    """Nine lines that stand for a billion values."""
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10)]
    (fault,) = manifests.parse("\n".join(lines).encode(), "f").faults
    assert "expands to more than" in fault.text


@pytest.mark.parametrize("text", ["[" * 3000, "{a: " * 900, "- " * 900])
def test_nesting_without_end_is_refused(text: str) -> None:
    assert manifests.parse(text.encode(), "f").faults


@pytest.mark.parametrize(
    "path", [("spec", "canary", 0, "trafficPercent"), ("metadata", "labels", "a.b/c"), ()]
)
def test_paths_are_written_so_that_they_can_be_read(path: manifests.Path) -> None:
    assert manifests.parts(manifests.written(path)) == path


def test_the_line_of_a_field_is_found_again() -> None:
    text = (
        SERVICE.format(name="a")
        + "---\n"
        + SERVICE.format(name="b")
        + "spec:\n  ports:\n  - port: 1\n"
    )
    assert manifests.line_of(text.encode(), 6, "spec.ports[0].port") == 12
    assert manifests.line_of(text.encode(), 6, "spec.ports[0].name") == 12
    assert manifests.line_of(text.encode(), 1, "metadata.name") == 4
