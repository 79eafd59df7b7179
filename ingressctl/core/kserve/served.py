"""What the shared rules ask of an object: an InferenceService and an InferenceGraph alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ingressctl.api.refs import Ref


class Served(Protocol):
    """A user's object that is reached under a host of its own."""

    @property
    def ref(self) -> Ref:
        """Its identity."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def namespace(self) -> str:
        """Its namespace."""
        ...

    @property
    def labels(self) -> Mapping[str, str]:
        """Its own labels."""
        ...

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its own annotations."""
        ...

    @property
    def status(self) -> Mapping[str, Any]:
        """Its stored status, empty if there is none."""
        ...
