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

CUT, HOLD = "cut", "hold"
"""A stream that breaks, and one that stays open without a word."""


@dataclass
class FakeApi:
    """Serves `objects` by (group, plural, namespace); `status` overrides a plural's answer,
    `passing` its first answers. `only_in`: lists of this namespace alone are allowed.

    `streams` are the watches of a plural, one after the other: events to send (objects are
    stored as well), a number to refuse the watch with, or CUT. Later watches stay open.
    """

    objects: list[dict[str, Any]] = field(default_factory=list)
    status: dict[str, int] = field(default_factory=dict)
    passing: dict[str, list[int]] = field(default_factory=dict)
    groups: tuple[str, ...] = ("serving.kserve.io", "apps", "gateway.networking.k8s.io")
    only_in: str = ""
    page: int = 20
    streams: dict[str, list[list[Any]]] = field(default_factory=dict)
    seen: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    def __enter__(self) -> FakeApi:
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.title(): value for name, value in self.headers.items()}
                api.seen.append((self.command, self.path, headers))
                stream = api.stream(self.path)
                if isinstance(stream, list):
                    self.send_stream(stream)
                    return
                status, body = stream or api.answer(self.path)
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def send_stream(self, events: list[Any]) -> None:
                """In chunks, as API servers do: one that is cut lacks its last chunk."""
                self.close_connection = True
                self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                for event in events:
                    if event == HOLD:
                        api.ended.wait(60)
                        return
                    if event == CUT:
                        self.wfile.write(b'9\r\n{"type": ')
                        return
                    api.store(event)
                    line = json.dumps(event).encode() + b"\n"
                    self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
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

    def stream(self, path: str) -> list[Any] | tuple[int, dict[str, Any]] | None:
        """The next stream of a watch, or the answer that refuses it; None for a list."""
        parts = urlsplit(path)
        if "watch" not in parse_qs(parts.query):
            return None
        scripts = self.streams.get(parts.path.rpartition("/")[2])
        events = scripts.pop(0) if scripts else [HOLD]
        if events and isinstance(events[0], int):
            return events[0], {"kind": "Status", "message": "watch refused"}
        return events

    def store(self, event: Mapping[str, Any]) -> None:
        """Keeps what an event tells, so that lists tell it too."""
        obj = event["object"]
        if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
            key = (obj["kind"], obj["metadata"]["name"])
            kept = [
                item for item in self.objects if (item["kind"], item["metadata"]["name"]) != key
            ]
            self.objects = kept if event["type"] == "DELETED" else [*kept, obj]

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
        meta = {"resourceVersion": "100"}
        if end < len(found):
            meta["continue"] = str(end)
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
