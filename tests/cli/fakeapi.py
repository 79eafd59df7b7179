"""A small API server on loopback: lists in pages, refusals, and a record of what was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from ingressctl.plan import kindnames


@dataclass
class FakeApi:
    """Serves `objects` by (group, plural, namespace); `status` overrides a plural's answer,
    `passing` its first answers. `only_in`: lists of this namespace alone are allowed."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    status: dict[str, int] = field(default_factory=dict)
    passing: dict[str, list[int]] = field(default_factory=dict)
    groups: tuple[str, ...] = ("serving.kserve.io", "apps", "gateway.networking.k8s.io")
    only_in: str = ""
    page: int = 20
    seen: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> FakeApi:
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.title(): value for name, value in self.headers.items()}
                api.seen.append((self.command, self.path, headers))
                status, body = api.answer(self.path)
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)

    def kubeconfig(self, path: Path, *, namespace: str = "team") -> Path:
        context = {"cluster": "here", "user": "me", "namespace": namespace}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "one",
            "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
            "users": [{"name": "me", "user": {"token": "secret"}}],
            "contexts": [{"name": "one", "context": context}],
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        parts = urlsplit(path)
        if parts.path == "/apis":
            return 200, {"groups": [_group(name) for name in self.groups]}
        words = parts.path.strip("/").split("/")
        plural = words[-1]
        if self.passing.get(plural):
            return self.passing[plural].pop(0), {"kind": "Status", "message": "try again"}
        if plural in self.status:
            return self.status[plural], {"kind": "Status", "message": f"{plural} is forbidden"}
        group = "" if words[0] == "api" else words[1]
        space = words[words.index("namespaces") + 1] if "namespaces" in words[:-1] else None
        if self.only_in and space != self.only_in:
            return 403, {"kind": "Status", "message": f"{plural} is forbidden"}
        found = [obj for obj in self.objects if _fits(obj, group, plural, space)]
        start = int(parse_qs(parts.query).get("continue", ["0"])[0])
        end = start + self.page
        meta = {"continue": str(end)} if end < len(found) else {}
        bare = [
            {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
            for obj in found[start:end]
        ]
        return 200, {"kind": "List", "metadata": meta, "items": bare}


def _group(name: str) -> dict[str, Any]:
    versions = {
        version
        for resource in kindnames.EVERY
        if resource.group == name
        for version in resource.versions
    }
    return {"name": name, "versions": [{"version": version} for version in sorted(versions)]}


def _fits(obj: Mapping[str, Any], group: str, plural: str, space: str | None) -> bool:
    mine = obj["apiVersion"].rpartition("/")[0]
    resource = kindnames.BY_IDENTITY[mine, obj["kind"]]
    return (
        mine == group
        and resource.plural == plural
        and space in (None, obj["metadata"].get("namespace"))
    )
