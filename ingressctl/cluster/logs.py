"""Log lines: one JSON object a line in a cluster, key=value on a terminal.

The message is constant, values are keys (ux.md 6.8). Whoever logs gives them as
``extra={"keys": {...}}``.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

import orjson

Form = Literal["json", "text"]


def configure(form: Form, level: str) -> None:
    """Log to stderr in a form, from a level on (debug, info, warning, error)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    root = logging.getLogger("ingressctl")
    root.handlers[:] = [handler]
    root.propagate = False
    root.setLevel(level.upper())


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One object a line."""
        return orjson.dumps(
            {
                "ts": _when(record),
                "level": record.levelname.lower(),
                "logger": record.name,
                "msg": record.getMessage(),
                **_keys(record, self),
            },
            default=str,
        ).decode()


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Time, level, message, then key=value."""
        pairs = " ".join(f"{key}={_value(value)}" for key, value in _keys(record, self).items())
        return f"{_when(record)} {record.levelname:<7} {record.getMessage()} {pairs}".rstrip()


def _when(record: logging.LogRecord) -> str:
    when = datetime.fromtimestamp(record.created, UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"


def _keys(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, Any]:
    keys: dict[str, Any] = dict(getattr(record, "keys", {}))
    if record.exc_info:
        keys["trace"] = formatter.formatException(record.exc_info)
    return keys


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return json.dumps(text) if not text or any(c in text for c in ' "=\n') else text
