"""A server that stands for a model: it answers its own name and the path and Host it saw."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextlib.contextmanager
def serving(name: str) -> Iterator[int]:
    """The port of 127.0.0.1 where the stub of this name answers."""

    class Answer(BaseHTTPRequestHandler):
        """One answer to anything."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            told = {"name": name, "path": self.path, "host": self.headers["Host"]}
            body = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def ask(
    address: str, path: str, *, host: str, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What a stub told behind this address; empty if no stub answered."""
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", path, headers={"Host": host, **(headers or {})})
        answer = connection.getresponse()
        told = answer.read()
        return dict(json.loads(told)) if answer.status == 200 else {}
    except OSError:
        return {}
    finally:
        connection.close()
