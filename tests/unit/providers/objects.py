"""Objects that somebody wrote, for tests of reading."""

from __future__ import annotations

from typing import Any

import yaml

from ingressctl.api.refs import Raw
from ingressctl.core.model import External, Service
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, NoRoute, Request, Table
from ingressctl.core.world import Reads, World


def objects(text: str) -> list[Raw]:
    """The manifests of a text."""
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def read(provider: Provider, *given: str | Raw) -> Table:
    """The table of manifests, each a text or an object."""
    found = [obj for item in given for obj in (objects(item) if isinstance(item, str) else [item])]
    return provider.read(found, reads=Reads(World.of(found), Settings(), providers={}))


def ask(
    table: Table,
    entry: str,
    url: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Hop | NoRoute:
    """The answer for ``host/path`` at an entry."""
    host, slash, path = url.partition("/")
    return table.answer(Request(method, host, slash + path or "/", headers or {}, entry, **more))


def where(answer: Hop | NoRoute) -> Any:
    """The backend's name, each with its share if there are several, or the status."""
    if isinstance(answer, NoRoute) or answer.rule.status:
        return answer.status if isinstance(answer, NoRoute) else answer.rule.status
    shares = {}
    for split, share in answer.rule.shares():
        assert isinstance(split.target, Service | External)
        target = split.target
        shares[target.name if isinstance(target, Service) else target.host] = share
    return next(iter(shares)) if len(shares) == 1 else shares


def reasons(answer: Hop | NoRoute) -> str:
    """Why the others lost, as one text."""
    return "\n".join(f"{loss.source} {loss.rule}: {loss.reason}" for loss in answer.losers)
