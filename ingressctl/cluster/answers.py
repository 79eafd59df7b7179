"""What an API server answers that is not a success, as one exception with all that matters."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, GONE = 401, 403, 404, 409, 410
TOO_MANY = 429

PASSING = frozenset({TOO_MANY, 500, 502, 503, 504})
"""What passes by itself: load, a start, CRDs that were just made."""


class Answered(Exception):
    """The API server answered with a status that is no success.

    `retry_after` is in seconds, 0 where the server names none.
    """

    def __init__(
        self, status: int, message: str, *, reason: str = "", retry_after: float = 0.0
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.reason = reason
        self.retry_after = retry_after

    @property
    def passes(self) -> bool:
        """Whether the same request may well succeed in a moment."""
        return self.status in PASSING


def of(status: int, headers: Mapping[str, str], data: bytes, phrase: str) -> Answered:
    """The exception for an answer; a body that is no Status gives the phrase alone."""
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        body = {}
    fields = body if isinstance(body, dict) else {}
    return Answered(
        status,
        str(fields.get("message") or phrase or f"status {status}"),
        reason=str(fields.get("reason") or ""),
        retry_after=_seconds(headers.get("Retry-After", "")),
    )


def told(fault: BaseException) -> str:
    """Why no answer came, for people: the system's own words where there are some."""
    reason = getattr(fault, "os_error", None) or fault
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return str(text)


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0
