"""A request by its path: /apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/status]]."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from tests.apiserver.statuses import Refused
from tests.apiserver.store import Key
from tests.apiserver.table import Place


class Asking:
    """What a request is about."""

    def __init__(self, request: web.Request) -> None:
        self.request = request
        words = request.path.strip("/").split("/")
        self.group = self.version = self.plural = self.namespace = self.name = ""
        self.subresource = ""
        if words[0] == "api":
            words = words[1:]
        else:
            self.group, words = (words[1] if len(words) > 1 else ""), words[2:]
        if words:
            self.version, words = words[0], words[1:]
        if len(words) > 2 and words[0] == "namespaces":
            self.namespace, words = words[1], words[2:]
        self.plural, self.name, self.subresource, *_ = (*words, "", "", "")

    @property
    def place(self) -> Place:
        return self.group, self.plural

    @property
    def key(self) -> Key:
        return self.place, self.namespace, self.name

    @property
    def verb(self) -> str:
        if not self.plural:
            return "discover"
        if self.request.method == "GET" and not self.name:
            return "watch" if self.request.query.get("watch") == "true" else "list"
        names = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch"}
        return names.get(self.request.method, "delete")

    @property
    def manager(self) -> str:
        agent = self.request.headers.get("User-Agent", "").partition("/")[0]
        return self.request.query.get("fieldManager") or agent

    def served(self, obj: dict[str, Any]) -> dict[str, Any]:
        """An object in the version that is asked for."""
        group = str(obj["apiVersion"]).rpartition("/")[0]
        return {**obj, "apiVersion": f"{group}/{self.version}" if group else self.version}

    async def body(self) -> dict[str, Any]:
        made = await self.request.json(loads=json.loads)
        if not isinstance(made, dict):
            raise Refused(400, "the body is no object")
        return made
