"""Faults of types and required fields, all at once, in the API server's words.

Rules run only on objects whose schema holds, so no rule ever meets a wrong type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ingressctl.api import wording
from ingressctl.api.admission.graphs import shapes
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.inferenceservices import FRAMEWORKS
from ingressctl.api.refs import Raw

M = TypeVar("M", bound=BaseModel)

_WANTED = {
    "string_type": "string",
    "int_type": "integer",
    "int_from_float": "integer",
    "bool_type": "boolean",
    "list_type": "array",
    "dict_type": "object",
    "model_type": "object",
}
_REMEDIES = {
    "string": "write a text; quote it if it looks like a number or a truth value",
    "integer": "write a whole number without quotes",
    "boolean": "write true or false without quotes",
    "array": "write a list",
}


def parse(model: type[M], obj: Raw) -> tuple[M | None, tuple[Refusal, ...]]:
    """The typed object, or every fault of its schema."""
    try:
        return model.model_validate(obj), ()
    except ValidationError as error:
        title = _title(obj)
        return None, tuple(_refusal(fault, title) for fault in error.errors(include_url=False))


def _title(obj: Raw) -> str:
    metadata = obj.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, Mapping) else ""
    group = str(obj.get("apiVersion")).partition("/")[0]
    return f'{obj.get("kind")}.{group} "{name}"'


def field_path(parts: Iterable[int | str]) -> str:
    """``("spec", "canary", 0)`` as ``spec.canary[0]``."""
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")


def _refusal(fault: ErrorDetails, title: str) -> Refusal:
    path = field_path(fault["loc"])
    text, remedy = _told(fault, path)
    return Refusal(f"{title} is invalid: {path}: {text}", path, remedy)


def _told(fault: ErrorDetails, path: str) -> tuple[str, str]:
    kind, value = fault["type"], fault["input"]
    if kind == "missing":
        return "Required value", f"write {path}"
    if kind in _WANTED:
        wanted, found = _WANTED[kind], _type_name(value)
        text = f'Invalid value: "{found}": {path} in body must be of type {wanted}: "{found}"'
        return text, shapes.remedy(path, value) or _remedy(wanted, path, value)
    if kind == "greater_than_equal":
        least = fault["ctx"]["ge"]
        text = f"Invalid value: {value}: {path} in body should be greater than or equal to {least}"
        return text, f"write {least} or more"
    if kind == "literal_error":
        supported = fault["ctx"]["expected"].replace("'", '"').replace(" or ", ", ")
        return f"Unsupported value: {_shown(value)}: supported values: {supported}", (
            f"write one of {supported}"
        )
    return f"Invalid value: {_shown(value)}: {wording.said(fault)}", "correct the field"


def _remedy(wanted: str, path: str, value: Any) -> str:
    return _shape(path, value) if wanted == "object" else _REMEDIES[wanted]


def _shape(path: str, value: Any) -> str:
    """What a mapping looks like, with the text that somebody wrote in its place."""
    field = path.rpartition(".")[2].partition("[")[0]
    word = value if isinstance(value, str) and value else ""
    if field == "modelFormat":
        return f"write modelFormat: {{name: {word or 'sklearn'}}}"
    if field == "model":
        return "write model: {modelFormat: {name: sklearn}, storageUri: ...}"
    if field in FRAMEWORKS:
        return f"write {field}: {{storageUri: {word or '...'}}}"
    return f"write a mapping: {field}: {{...: ...}}"


def _shown(value: Any) -> str:
    return json.dumps(value, default=str)


def _type_name(value: object) -> str:
    names: tuple[tuple[type, str], ...] = (
        (bool, "boolean"),
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (dict, "object"),
        (list, "array"),
    )
    if value is None:
        return "null"
    return next((name for kind, name in names if isinstance(value, kind)), type(value).__name__)
