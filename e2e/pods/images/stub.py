"""The image `stub`: what stands for a model in `ingressctl up --stub`, as a pod.

It answers with the pod's app and namespace, so that a test sees whom a request reached.
"""

from __future__ import annotations

import os
import signal

from aiohttp import web

from ingressctl.proxy import stubs


def main() -> None:
    """Serve until SIGTERM."""
    port = int(os.environ.get("PORT", "8080"))
    name = os.environ.get("SERVICE") or os.environ["HOSTNAME"]
    identity = stubs.Identity(name, os.environ.get("NAMESPACE", "default"), port)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    web.run_app(stubs.application(identity), port=port, handle_signals=False, print=lambda _: None)


if __name__ == "__main__":
    main()
