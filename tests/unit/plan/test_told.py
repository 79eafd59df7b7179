"""The hosts that a status tells of."""

from __future__ import annotations

import pytest

from ingressctl.plan import told


def test_all_urls_of_a_status_count_at_any_depth() -> None:
    status = {
        "url": "http://iris.Example.com/v1",
        "address": {"url": "http://iris.ns.svc.cluster.local"},
        "components": {
            "predictor": {
                "restUrl": "http://rest.example.com:8080",
                "grpcUrl": "grpc.example.com",
                "traffic": [{"tag": "prev", "url": "https://prev.example.com"}],
            }
        },
        "conditions": [{"type": "Ready", "message": "http://no.example.com"}],
    }
    assert told.hosts({"status": status}) == {
        "iris.example.com",
        "iris.ns.svc.cluster.local",
        "rest.example.com",
        "prev.example.com",
    }


@pytest.mark.parametrize("status", [None, {}, {"url": 7}, {"url": "http://[x"}, {"url": "/path"}])
def test_a_status_without_a_url_tells_none(status: object) -> None:
    assert told.hosts({"status": status}) == frozenset()
