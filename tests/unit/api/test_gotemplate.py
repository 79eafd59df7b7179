"""Go's own answers for templates over the fields that users have (text/template)."""

from __future__ import annotations

import pytest

from ingressctl.api import gotemplate

STRINGS = frozenset({"Name", "Namespace", "IngressDomain", "Domain", "Tag"})
MAPS = frozenset({"Annotations", "Labels"})
VALUES: dict[str, gotemplate.Value] = {
    "Name": "sklearn",
    "Namespace": "user1",
    "IngressDomain": "example.com",
    "Domain": "example.com",
    "Tag": "green",
    "Annotations": {"a.b/c": "dotted"},
    "Labels": {"team": "blue", "e": ""},
}


def render(source: str) -> str:
    return gotemplate.parse(source, STRINGS, MAPS).render(VALUES)


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}", "sklearn-user1.example.com"),
        ("{{.Name}}.{{.Namespace}}.{{.Domain}}", "sklearn.user1.example.com"),
        ("{{.Annotations.nope}}.{{.Domain}}", "<no value>.example.com"),
        ('{{index .Annotations "nope"}}.{{.Domain}}', ".example.com"),
        ('{{index .Annotations "a.b/c"}}', "dotted"),
        ("{{if .Labels.nope}}a{{else}}b{{end}}", "b"),
        ('{{eq (index .Annotations "nope") ""}}', "true"),
        ('{{printf "%.3s" .Name}}', "skl"),
        ("{{slice .Name 0 3}}", "skl"),
        ('{{printf "%s" 5}}', "%!s(int=5)"),
        ('{{printf "%d" .Name}}', "%!d(string=sklearn)"),
        ('{{printf "%s"}}', "%!s(MISSING)"),
        ("{{.Labels}}", "map[e: team:blue]"),
        ("{{print .Name 1 2 .Namespace}}", "sklearn1 2user1"),
        ("{{- .Name -}} . {{- .Namespace -}}", "sklearn.user1"),
        ("{{/* a comment */}}{{.Name}}", "sklearn"),
        ("{{with .Labels}}{{.team}}{{end}}", "blue"),
        ("{{range $k, $v := .Labels}}{{$k}}={{$v}};{{end}}", "e=;team=blue;"),
        ("{{$n := .Name}}{{$n}}", "sklearn"),
        ("{{$.Name}}", "sklearn"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_renders_as_go_does(source: str, answer: str) -> None:
    assert render(source) == answer


@pytest.mark.parametrize(
    "source",
    [
        "{{ .Name }",
        "{{.Nope}}",
        "{{.Name.Foo}}",
        "{{.Labels.team.x}}",
        "{{$.Nope}}",
        "{{.Name | upper}}",
        "{{lower .Name}}",
        "{{range .Name}}x{{end}}",
        "{{eq 1 1.0}}",
        "{{and}}",
        "{{nil}}",
        "{{if}}",
        "{{end}}",
        "{{template `x`}}",
    ],
)
def test_fails_where_go_fails(source: str) -> None:
    with pytest.raises(gotemplate.TemplateError) as caught:
        render(source)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_the_known_fields_for_an_unknown_one() -> None:
    with pytest.raises(gotemplate.TemplateError, match=r"\.Nope; the fields are .*Namespace"):
        render("{{.Nope}}")


def test_finds_keys_that_a_map_lacks() -> None:
    found = gotemplate.missing_keys("{{.Labels.team}}{{.Labels.owner}}", VALUES)
    assert found == (".Labels.owner",)


@pytest.mark.parametrize(
    "source",
    [
        '{{printf "%999999999d" 1}}',
        '{{printf "%.999999999f" 1.0}}',
        '{{printf "%*d" 999999999 1}}',
        '{{$f := "%99999999s"}}{{printf $f .Name}}',
        "{{define `a`}}{{template `a`}}{{end}}{{template `a`}}",
        "x" * (gotemplate.MAX_SOURCE + 1),
    ],
)
def test_cannot_fill_memory_or_run_for_ever(source: str) -> None:
    with pytest.raises(gotemplate.TemplateError):
        render(source)
