"""Runs the command line in this process, as a person would call it."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from ingressctl.cli import main


@dataclass(frozen=True)
class Done:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


def run(
    *words: str | Path, stdin: bytes = b"", variables: Mapping[str, str] = MappingProxyType({})
) -> Done:
    """One command with 80 columns; `variables` of its environment."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.delenv("NO_COLOR", raising=False)
        patch.delenv("FORCE_COLOR", raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "argv", ["ingressctl"])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = _code(words)
    assert "Traceback" not in err.getvalue()
    return Done(code, out.getvalue(), err.getvalue())


def _code(words: tuple[str | Path, ...]) -> int:
    with pytest.raises(SystemExit) as ended:
        main.main([str(word) for word in words])
    code = ended.value.code
    return code if isinstance(code, int) else 0
