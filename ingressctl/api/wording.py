"""What pydantic says of a value, in the words that people get to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def said(fault: Mapping[str, Any]) -> str:
    """The message of one fault without the name of the exception that a validator raised."""
    return bare(str(fault["msg"]))


def bare(text: str) -> str:
    """A message of pydantic without the exception's name; any other as it is."""
    return text.removeprefix("Value error, ")
