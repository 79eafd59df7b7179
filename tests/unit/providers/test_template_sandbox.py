"""Templates of strangers neither read, nor run for ever, nor fill memory."""

from __future__ import annotations

import pytest

from ingressctl.providers.template import sandbox

HOSTILE = {
    "nested loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "long range": "{{ range(1000000000) | list | length }}",
    "text times number": "{{ 'a' * 1000000000 }}",
    "list times number": "{{ [1] * 1000000000 }}",
    "power": "{{ 9 ** 9 ** 9 }}",
    "doubled by joining": (
        "{% set n = namespace(x='aaaaaaaa') %}"
        "{% for i in range(100) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}"
    ),
    "doubled by adding": (
        "{% set n = namespace(x=[1]) %}"
        "{% for i in range(100) %}{% set n.x = n.x + n.x %}{% endfor %}"
    ),
    "wide format": "{{ '{:999999999}'.format(1) }}",
    "percent format": "{{ '%999999999d' % 1 }}",
    "padding": "{{ 'a'.ljust(999999999) }}",
    "recursive macro": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "branching macro": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    ),
    "long output": "{% for i in range(9000) %}" + "x" * 100 + "{% endfor %}",
    "class walk": "{{ ''.__class__.__mro__ }}",
    "globals of a function": "{{ range.__globals__ }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import 'os' as os %}",
    "captured text": "{% set x %}{{ 'a' }}{% endset %}",
    "unknown filter": "{{ 'a' | pprint }}",
    "missing variable": "{{ nothing.at.all }}",
    "wrong types": "{{ 1 + 'a' }}",
    "division by zero": "{{ 1 / 0 }}",
    "broken syntax": "{% for %}",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_template_is_refused_with_its_file(source: str) -> None:
    environment = sandbox.environment({})
    with pytest.raises(sandbox.TemplateFault, match=r"^mine\.yaml\.j2") as caught:
        sandbox.render(
            sandbox.compile_template(environment, source, "mine.yaml.j2"), "mine.yaml.j2", {}
        )
    assert "\n" not in str(caught.value)


def test_harmless_template_renders() -> None:
    """Loops, macros, joins and the allowed filters work, so the limits bar nothing useful."""
    source = (
        "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}"
        "{% for n in names | sort %}{{ twice(n ~ '-') }}{% endfor %}{{ 2 * 3 }}"
    )
    environment = sandbox.environment({})
    template = sandbox.compile_template(environment, source, "f")
    assert sandbox.render(template, "f", {"names": ["b", "a"]}) == "a-a-b-b-6"


def test_each_rendering_has_a_budget_of_its_own() -> None:
    environment = sandbox.environment({})
    source = "{% for i in range(9000) %}{% endfor %}done"
    template = sandbox.compile_template(environment, source, "f")
    assert {sandbox.render(template, "f", {}) for _ in range(30)} == {"done"}
