"""Explain over a cluster as KServe's own manager left it: foreign objects, all read back."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from ingressctl.api.refs import Ref
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, Request
from ingressctl.core.world import World
from ingressctl.plan import explain
from ingressctl.plan.explanation import leaves
from tests.cases import comparing

FOLDER = Path(__file__).parent / "kserve-standard-gateway-api"
ROUTE = ("gateway.networking.k8s.io", "HTTPRoute")
GATEWAY = "kserve/kserve-ingress-gateway"


def test_every_published_url_leads_to_its_own_service() -> None:
    """What KServe says in status is where its HTTPRoutes lead, by every backend that exists."""
    texts = [path.read_text() for path in sorted(FOLDER.glob("*.yaml"))]
    world = World.of(obj for text in texts for obj in comparing.documents(text))
    reached = 0
    for service in world.list(("serving.kserve.io", "InferenceService")):
        status, meta = service.get("status") or {}, service["metadata"]
        host = urlsplit(status.get("url") or "").hostname or ""
        ready = {item["type"]: item["status"] for item in status.get("conditions") or ()}
        if ready.get("IngressReady") != "True" or not host or host.endswith(".svc.cluster.local"):
            continue
        request = Request("POST", host, f"/v1/models/{meta['name']}:predict")
        (attempt,) = explain.explain(request, world, Settings()).attempts
        assert attempt.entry == GATEWAY
        if world.get(Ref(*ROUTE, meta["namespace"], meta["name"])) is None:
            assert attempt.status == 404  # KServe publishes URLs of private services, too
            continue
        assert isinstance(attempt.answer, Hop), f"{host}: {attempt.answer}"
        assert attempt.answer.headers["kserve-isvc-name"] == meta["name"]
        for leaf in leaves(attempt):
            assert leaf.branch is not None
            assert not leaf.status, f"{host}: {leaf.branch.reason}"
            name, namespace = leaf.branch.backend.split(".")[:2]
            assert (name.startswith(meta["name"]), namespace) == (True, meta["namespace"])
        reached += 1
    assert reached > 20
