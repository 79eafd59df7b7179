"""inferenceservice-config against spec/kserve-ingress.md 1."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api import configchecks, configmaps
from ingressctl.api.configchecks import KeyFault, Notice

GATEWAY = {"ingressGateway": "knative-serving/knative-ingress-gateway"}
OWN_GATEWAY = {"kserveIngressGateway": "kserve/kserve-ingress-gateway"}


def data(**keys: Any) -> dict[str, str]:
    return {key: json.dumps(value) for key, value in keys.items()}


def faults(values: dict[str, str], *, optional: bool = False) -> list[tuple[str, str]]:
    found = configchecks.faults(values, gateway_optional=optional)
    return [(fault.path, fault.message) for fault in found]


def notices(values: dict[str, str], **annotations: str) -> tuple[Notice, ...]:
    return configchecks.notices(values, annotations=annotations)


@pytest.mark.parametrize(
    ("ingress", "text"),
    [
        ("{", "unable to parse ingress config json"),
        ("[]", "unable to parse ingress config json"),
        ('{"urlScheme": NaN}', "unable to parse ingress config json"),
        ("{}", "ingressGateway is required"),
        ({"enableGatewayApi": True, **GATEWAY}, "kserveIngressGateway is required"),
        (
            {"enableGatewayApi": True, "kserveIngressGateway": "a"},
            "kserveIngressGateway should be in the format <namespace>/<name>",
        ),
        (
            {"enableGatewayApi": True, "kserveIngressGateway": "A/B"},
            "kserveIngressGateway gateway namespace is invalid",
        ),
        (
            {"enableGatewayApi": True, "kserveIngressGateway": "a/B"},
            "kserveIngressGateway gateway name is invalid",
        ),
        ({**GATEWAY, "pathTemplate": "{{"}, "unable to parse pathTemplate"),
        (
            {**GATEWAY, "pathTemplate": "/{{ .Name }}"},
            "ingressDomain is required if pathTemplate is given",
        ),
    ],
)
def test_errors_of_ingress_have_the_text_of_the_reference(ingress: Any, text: str) -> None:
    value = ingress if isinstance(ingress, str) else json.dumps(ingress)
    ((path, message),) = faults({"ingress": value})
    assert path == "ingress"
    assert text in message


def test_the_gateway_is_not_asked_for_where_nothing_needs_it() -> None:
    """Q28."""
    assert faults({"ingress": "{}"}, optional=True) == []


def test_ingress_rules_run_only_if_the_key_exists() -> None:
    assert faults({}) == []
    assert configmaps.parse_ingress(None, gateway_optional=False).ingressDomain == "example.com"


def test_every_wrong_type_is_told_at_once() -> None:
    values = data(
        ingress={"disableIstioVirtualHost": "false", "additionalIngressDomains": "a.b"},
        inferenceService={"resource": {"cpuLimit": 1}},
        deploy={"defaultDeploymentMode": True},
        security={"autoMountServiceAccountToken": "true"},
    )
    assert {path for path, _ in faults(values)} == {
        "ingress.disableIstioVirtualHost",
        "ingress.additionalIngressDomains",
        "inferenceService.resource.cpuLimit",
        "deploy.defaultDeploymentMode",
        "security.autoMountServiceAccountToken",
    }
    for path, message in faults(values):
        assert f"unable to parse {path.partition('.')[0]} config json" in message


@pytest.mark.parametrize(
    ("deploy", "text"),
    [
        ("{}", "defaultDeploymentMode is required"),
        ('{"defaultDeploymentMode": "Raw"}', "invalid deployment mode"),
        ("no", "unable to parse deploy config json"),
    ],
)
def test_errors_of_deploy(deploy: str, text: str) -> None:
    ((path, message),) = faults({"deploy": deploy})
    assert path == "deploy"
    assert text in message


@pytest.mark.parametrize(
    ("written", "mode"),
    [
        ("Serverless", "Knative"),
        ("RawDeployment", "Standard"),
        ("Knative", "Knative"),
        ("Standard", "Standard"),
        ("ModelMesh", "ModelMesh"),
    ],
)
def test_old_mode_names_are_translated(written: str, mode: str) -> None:
    assert configmaps.parse_default_mode(json.dumps({"defaultDeploymentMode": written})) == mode


def test_a_broken_service_key_is_only_told() -> None:
    """The reference logs it and goes on with the default."""
    for value in ("{", '{"serviceClusterIPNone": "true"}'):
        assert faults({"service": value}) == []
        assert notices({"service": value}) == (Notice("ignored", "service"),)
        assert configmaps.parse_service(value).serviceClusterIPNone is False


def test_keys_in_another_letter_case_hold_and_are_told() -> None:
    values = data(
        ingress={"IngressGateway": "a/b", "INGRESSDOMAIN": "x.org", "ingressDomain": "y.org"}
    )
    config = configmaps.parse_ingress(values["ingress"], gateway_optional=False)
    assert (config.ingressGateway, config.ingressDomain) == ("a/b", "y.org")
    assert notices(values) == (
        Notice("other-case", "ingress.IngressGateway", "ingressGateway"),
        Notice("overridden", "ingress.INGRESSDOMAIN", "ingressDomain"),
    )


@pytest.mark.parametrize(
    ("names", "holds"),
    [
        (("enableGatewayApi", "enableGatewayAPI"), "enableGatewayAPI"),
        (("enableGatewayAPI", "enableGatewayApi"), "enableGatewayApi"),
    ],
)
def test_of_one_key_in_two_spellings_the_last_holds(names: tuple[str, ...], holds: str) -> None:
    """As Go's decoder, which sets the field again."""
    values = data(
        ingress={**GATEWAY, **OWN_GATEWAY, names[0]: names[0] == holds, names[1]: names[1] == holds}
    )
    config = configmaps.parse_ingress(values["ingress"], gateway_optional=True)
    assert config.enableGatewayApi
    other = next(name for name in names if name != holds)
    assert Notice("overridden", f"ingress.{other}", holds) in notices(values)


def test_unknown_keys_are_told_with_the_nearest_known_one() -> None:
    values = data(
        ingres={},
        mine={},
        ingress={**GATEWAY, "ingressDomian": "x.org", "later": 1},
        inferenceService={"resource": {"cpuLimits": "1"}},
    )
    del values["ingress"]
    assert notices(values) == (
        Notice("unknown", "ingres", "ingress"),
        Notice("unknown", "inferenceService.resource.cpuLimits", "cpuLimit"),
    )
    values = data(ingress={**GATEWAY, "ingressDomian": "x.org", "later": 1})
    assert notices(values) == (
        Notice("unknown", "ingress.ingressDomian", "ingressDomain"),
        Notice("unknown", "ingress.later", ""),
    )


def test_parts_of_values_that_are_left_out_are_told() -> None:
    """KServe takes the setting and drops them without a word (F112)."""
    domains = ["a.com", "*.foo.com", "http://bar.com", ""]
    template = "/s/{{ .Namespace }}/{{ .Name }}?x={{ .Name }}"
    ingress = {
        **GATEWAY,
        "ingressDomain": "x.org",
        "additionalIngressDomains": domains,
        "pathTemplate": template,
    }
    found = notices(data(ingress=ingress))
    assert [(notice.kind, notice.path, notice.known) for notice in found] == [
        ("dropped", "ingress.additionalIngressDomains[1]", "*.foo.com"),
        ("dropped", "ingress.additionalIngressDomains[2]", "http://bar.com"),
        ("dropped", "ingress.additionalIngressDomains[3]", ""),
        ("dropped", "ingress.pathTemplate", "?x="),
    ]
    assert all(notice.why for notice in found)
    plain = {**ingress, "additionalIngressDomains": ["a.com"]}
    plain["pathTemplate"] = '/s/{{ .Namespace }}/{{ index .Labels "a?b#c" }}'
    assert notices(data(ingress=plain)) == ()


class TestExamples:
    """F112: a setting inside `_example` has no effect."""

    OWN = 'ingress: |-\n  {"ingressDomain": "models.example.org"}\n'
    STOCK = f"# {configchecks.STOCK_HEADING}\n# not functional\n"

    def test_a_value_that_nobody_shipped_is_told(self) -> None:
        found = notices({"_example": self.OWN, **data(ingress=GATEWAY)})
        assert found == (Notice("example", "ingress.ingressDomain"),)
        assert notices({"_example": self.STOCK + self.OWN}) == found

    def test_what_is_shipped_or_holds_is_not(self) -> None:
        shipped = "ingress: |-\n  " + json.dumps(configmaps.SHIPPED["ingress"])
        assert notices({"_example": shipped}) == ()
        held = data(ingress={**GATEWAY, "ingressDomain": "models.example.org"})
        assert notices({"_example": self.OWN, **held}) == ()

    def test_keys_of_other_parts_are_not_judged_in_a_shipped_text(self) -> None:
        assert notices({"_example": self.STOCK + 'agent: |-\n  {"image": "mine"}\n'}) == ()

    def test_a_shipped_text_of_knative_is_known_by_its_checksum(self) -> None:
        example = self.STOCK + '\ndomain-template: "{{.Name}}"\n'
        for checksum in configchecks.checksums(example):
            annotations = {configchecks.CHECKSUM_ANNOTATION: checksum}
            assert (
                configchecks.example_notices({"_example": example}, annotations=annotations) == ()
            )
            changed = {"_example": example.replace("Name", "Namespace")}
            assert configchecks.example_notices(changed, annotations=annotations) == (
                Notice("example", "domain-template"),
            )

    def test_without_heading_and_checksum_it_is_the_users(self) -> None:
        example = {"_example": "domain-template: x\n"}
        assert configchecks.example_notices(example, annotations={}) == (
            Notice("example", "domain-template"),
        )

    @pytest.mark.parametrize("text", ["", "a: [", "- a\n", "# only a comment\n", "1: 2\n"])
    def test_other_texts_say_nothing(self, text: str) -> None:
        assert notices({"_example": text}) == ()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "a/b", "Standard", "{{"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["ingressGateway", "INGRESSDOMAIN", "resource", "x", "cpuLimit"]), inner
        )
    ),
)


@given(
    st.dictionaries(
        st.sampled_from([*configchecks.MODELS, "_example", "Ingress"]),
        VALUES.map(json.dumps) | st.sampled_from(["", "{", "a: b"]),
    )
)
def test_any_text_is_no_exception(values: dict[str, str]) -> None:
    for fault in configchecks.faults(values, gateway_optional=False):
        assert isinstance(fault, KeyFault)
        assert fault.message
    assert all(notice.path for notice in notices(values))
