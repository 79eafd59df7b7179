"""``{{.Name}}`` and the like in a runtime's container (spec/kserve-runtimes.md 8).

KServe fills in the JSON text of the whole container, so a quote inside a placeholder
cannot work; with W7 each string is filled in by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ingressctl.api import gotemplate
from ingressctl.api.refs import Raw

_STRINGS = frozenset({"Name", "Namespace"})
_MAPS = frozenset({"Labels", "Annotations"})

_GO_ORDER = ("name", "image", "command", "args", "workingDir", "ports", "envFrom", "env")

Values = Mapping[str, str | Mapping[str, str]]


def fill(container: Raw, values: Values, *, each: bool) -> Raw:
    """The container with its placeholders filled in; `each` string apart (W7).

    Raises gotemplate.TemplateError or ValueError.
    """
    if "{{" not in repr(container):
        return container
    if each:
        filled: Raw = _each(container, values)
        return filled
    source = _json(container)
    try:
        parsed: Raw = json.loads(_text(source, values))
    except gotemplate.UnknownField as error:
        raise gotemplate.TemplateError(_in_go_words(error, source)) from None
    return parsed


def _json(container: Raw) -> str:
    """The container as Go writes it: known fields in their order, without blanks."""
    order = {key: place for place, key in enumerate(_GO_ORDER)}
    keys = sorted(container, key=lambda key: order.get(key, len(order)))
    return json.dumps({key: container[key] for key in keys}, separators=(",", ":"))


def _in_go_words(error: gotemplate.UnknownField, source: str) -> str:
    """The text of Go's template engine, with the place in the JSON text."""
    place, name = source.find(error.chain), error.chain.split(".")[1]
    return (
        f'template: container-tmpl:1:{place}: executing "container-tmpl" at <{error.chain}>: '
        f"can't evaluate field {name} in type v1.ObjectMeta"
    )


def _each(value: Any, values: Values) -> Any:
    if isinstance(value, str):
        return _text(value, values) if "{{" in value else value
    if isinstance(value, Mapping):
        return {key: _each(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_each(item, values) for item in value]
    return value


def _text(source: str, values: Values) -> str:
    """The rendered text; an absent label or annotation is empty."""
    template = gotemplate.parse(source, _STRINGS, _MAPS)
    complete: dict[str, gotemplate.Value] = dict(values)
    for chain in gotemplate.missing_keys(source, values):
        root, _, key = chain.removeprefix(".").partition(".")
        complete[root] = {**dict(complete[root]), key: ""}  # type: ignore[arg-type]
    return template.render(complete)
