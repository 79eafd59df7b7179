"""What the server answers that is no success, in the API's own form."""

from __future__ import annotations

from typing import Any

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}


class Refused(Exception):
    """A request is answered with a status that is no success."""

    def __init__(self, code: int, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason or REASONS.get(code, "Unknown")

    @property
    def body(self) -> dict[str, Any]:
        return status(self.code, str(self), self.reason)


def status(code: int, message: str, reason: str = "") -> dict[str, Any]:
    """A metav1.Status."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason or REASONS.get(code, "Unknown"),
        "message": message,
    }
