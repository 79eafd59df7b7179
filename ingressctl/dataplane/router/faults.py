"""Why a graph, or a step of it, has no answer of its own, and what the client is told.

The body is KServe's: `error` is always the same text, `cause` one sentence without
addresses (IG-D25).
"""

from __future__ import annotations

from typing import Literal

import orjson

from ingressctl.dataplane.router.ports import Answer, StepFailed

JSON = (b"content-type", b"application/json")

Kind = Literal["step", "route", "input", "graph"]
"""A call that failed; no branch of a Switch; a request that cannot be read; a faulty graph."""


class Failed(Exception):
    """Ends a node. `fixed` is a status that every `compat` keeps."""

    def __init__(self, kind: Kind, status: int, cause: str, *, fixed: bool = False) -> None:
        super().__init__(cause)
        self.kind = kind
        self.status = status
        self.cause = cause
        self.fixed = fixed


def of_call(failed: StepFailed, label: str) -> Failed:
    """A call that gave no answer: 504 if the time was over, else 502."""
    status = 504 if failed.failure == "late" else 502
    return Failed("step", status, f"{label}: {failed.text}")


def body(cause: str) -> bytes:
    """The body of an answer that no step gave."""
    return orjson.dumps({"error": "Failed to process request", "cause": cause})


def answer(status: int, cause: str) -> Answer:
    """The answer that no step gave."""
    return Answer(status, (JSON,), body(cause), cause=cause)


def member(failed: Failed) -> bytes:
    """What stands in an Ensemble for a Soft step that gave nothing."""
    error = {"error": "Failed to process request", "cause": failed.cause, "status": failed.status}
    return orjson.dumps(error)
