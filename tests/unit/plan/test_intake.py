"""A configuration that cannot be used does not take the place of the last good one."""

from __future__ import annotations

import json

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.settings import Settings
from ingressctl.plan import intake


def config(ingress: str) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "kserve", "name": "inferenceservice-config"},
        "data": {"ingress": ingress},
    }


def ingress(template: str) -> str:
    return json.dumps({"ingressGateway": "a/b", "domainTemplate": template})


GOOD = config(ingress("{{ .Name }}.{{ .IngressDomain }}"))


@pytest.mark.parametrize("text", ["{", ingress("{{ .Name"), ingress("{{ if }}")])
def test_the_last_good_one_stays(text: str) -> None:
    taken = intake.take(config(text), GOOD, Settings())
    assert taken.obj == GOOD
    assert [finding.code for finding in taken.refused]


def test_without_a_good_one_it_is_what_there_is() -> None:
    """So that each service says what is wrong."""
    bad = config(ingress("{{ .Name"))
    taken = intake.take(bad, None, Settings())
    assert taken.obj == bad
    assert taken.refused


def test_another_good_one_is_taken() -> None:
    other = config(ingress("{{ .Namespace }}.{{ .IngressDomain }}"))
    assert intake.take(other, GOOD, Settings()) == intake.Taken(other)
