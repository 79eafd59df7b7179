"""How long providers take to emit: measured around them, for they know no clock."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from prometheus_client import Histogram

from ingressctl.core.model import Route
from ingressctl.core.ports import Emission, Provider
from ingressctl.core.world import Reads


def providers(given: Mapping[str, Provider], seconds: Histogram) -> Mapping[str, Provider]:
    """The same providers; what each emission takes is observed under the provider's name."""
    return {name: cast(Provider, _Timed(item, seconds, name)) for name, item in given.items()}


class _Timed:
    """A provider in all but `emit`, which is measured."""

    def __init__(self, provider: Provider, seconds: Histogram, name: str) -> None:
        self._provider = provider
        self._seconds = seconds.labels(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """As the provider's."""
        began = time.perf_counter()
        try:
            return self._provider.emit(routes, reads=reads)
        finally:
            self._seconds.observe(time.perf_counter() - began)
