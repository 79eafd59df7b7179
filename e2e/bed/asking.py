"""The few questions the bed itself asks over HTTP, all of them while it waits."""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path

from e2e.bed.certificates import Keys

SECONDS = 5


def trusting(keys: Keys) -> ssl.SSLContext:
    """For questions to the API server as its administrator."""
    context = ssl.create_default_context(cafile=str(keys.ca))
    context.load_cert_chain(keys.admin.certificate, keys.admin.key)
    return context


def is_ok(url: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether the answer is 200; no answer is none."""
    # Straight to this machine, whatever proxy the environment names.
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if context is not None:
        handlers.append(urllib.request.HTTPSHandler(context=context))
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=SECONDS) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except OSError:
        return False


def at_socket(path: Path, question: str) -> tuple[int, str]:
    """Status and text of a server at a Unix socket; status 0 if none listens."""
    connection = http.client.HTTPConnection("localhost", timeout=SECONDS)
    try:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(SECONDS)
        connection.sock.connect(str(path))
        connection.request("GET", question)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except OSError:
        return 0, ""
    finally:
        connection.close()
