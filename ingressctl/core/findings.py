"""The one table of finding codes. Numbers are never reused.

1xxx input, 2xxx names and domains, 3xxx traffic and tags, 4xxx what a provider cannot
express, 5xxx what the cluster lacks, 6xxx graphs, 7xxx rollout. Reasons of status
conditions stand beside the code that explains them.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter

from ingressctl.core.outcome import Finding, Level


@dataclass(frozen=True, slots=True)
class Code:
    """A row: `template` and `help` are filled with the arguments of the finding.

    `reports` are the field reports that the finding answers.
    """

    code: str
    level: Level
    title: str
    template: str
    help: str = ""
    reports: tuple[str, ...] = ()


def _rows(*rows: Code) -> dict[str, Code]:
    table = {row.code: row for row in rows}
    assert len(table) == len(rows), "a code stands twice in the table"
    return table


TABLE: dict[str, Code] = _rows(
    Code(
        "IC1501",
        "info",
        "suppression without effect",
        "{written} matches no finding",
        "remove it",
    ),
    Code(
        "IC1502",
        "warning",
        "object given twice",
        "it is given here and at {earlier}: this one holds, for it comes later",
        "leave one of them out",
    ),
    Code(
        "IC1102",
        "error",
        "configuration refused",
        "{text}",
        "mend the key {key} of ConfigMap {namespace}/{name}",
    ),
    Code(
        "IC1103",
        "warning",
        "unknown configuration key",
        "key {unknown!r} in {key} is not known{guess}",
        "correct or remove it; unknown keys have no effect",
        ("F112",),
    ),
    Code(
        "IC1104",
        "warning",
        "setting inside the example",
        "{setting} is set only inside _example, where it has no effect",
        "move it out of _example",
        ("F112",),
    ),
    Code(
        "IC1105",
        "warning",
        "configuration key in another letter case",
        "key {written!r} in {key} {means}",
        "write the key once, as KServe spells it",
        ("F112",),
    ),
    Code(
        "IC1106",
        "warning",
        "part of a setting left out",
        "{part!r} in {key} has no effect: {why}",
        "correct or remove it",
        ("F112",),
    ),
    Code(
        "IC1120",
        "warning",
        "unknown field",
        "an {kind} has no field {name!r}{guess}: an API server drops it",
        "correct or remove it; it has no effect",
    ),
    Code(
        "IC1121",
        "warning",
        "unknown kind",
        "there is no kind {written}: did you mean {meant}? It has no effect",
        "write {meant}",
    ),
    Code(
        "IC1122",
        "error",
        "version that is not served",
        "{kind} is not served in version {written}: no cluster takes the object",
        "write apiVersion: {right}",
    ),
    Code(
        "IC1123",
        "info",
        "kind without routes",
        "{kind} is known, but no routes are made of it yet",
        "its own hosts are missing from what is shown here",
    ),
    Code(
        "IC1201",
        "warning",
        "unknown deployment mode",
        "annotation {annotation} is {value!r}, which is no deployment mode: it is ignored",
        "write Standard, Knative, or the older RawDeployment, Serverless",
    ),
    Code(
        "IC1601",
        "warning",
        "deployment mode cannot change",
        "annotation {annotation} asks for {asked}, but the service runs in {kept} mode, which its "
        "status says and which stays",
        "delete the service and make it anew for another mode, or take the annotation back",
    ),
    Code(
        "IC1202",
        "warning",
        "no default deployment mode",
        "the ConfigMap has no key deploy: Knative mode is assumed",
        "set deploy.defaultDeploymentMode",
    ),
    Code(
        "IC1303",
        "warning",
        "configuration key ignored",
        "key {key} cannot be read: its defaults hold",
        "mend the JSON of the key",
        ("F112",),
    ),
    Code(
        "IC1203",
        "info",
        "runtime assumed",
        "no ClusterServingRuntime is given: {runtime}, which KServe installs, is assumed",
        "add the runtimes of the cluster to the input; their images are not known here",
    ),
    Code(
        "IC1304",
        "error",
        "cannot be derived",
        "{text}",
        "correct what the text names; nothing is made of the object meanwhile",
    ),
    Code("IC1301", "error", "field of a wrong type", "{text}", "correct the field"),
    Code(
        "IC1302",
        "error",
        "refused at admission",
        "{text}",
        "{remedy}",
        ("F6", "F52"),
    ),
    Code(
        "IC2001",
        "error",
        "host cannot be",
        "{text}",
        "shorten the name or namespace, or change domainTemplate",
        ("F3", "F51", "F91"),
    ),
    Code(
        "IC2002",
        "error",
        "path template cannot be",
        "{text}",
        "mend pathTemplate: it must render a path, with the namespace in it",
        ("F50",),
    ),
    Code(
        "IC1110",
        "error",
        "visibility label that nobody reads",
        "{key} is {value!r}, which nobody reads: the object is public",
        "write the label {right}: cluster-local",
        ("F23",),
    ),
    Code(
        "IC1111",
        "error",
        "visibility label of the other mode",
        "label {written} is not read in this deployment mode: the object is public",
        "write the label {right}: cluster-local",
        ("F23",),
    ),
    Code(
        "IC1112",
        "warning",
        "visibility label of the other mode, honoured",
        "label {written} is that of the other deployment mode: it is honoured here, but KServe "
        "itself would make the object public",
        "write the label {right}: cluster-local as well",
        ("F23",),
    ),
    Code(
        "IC1113",
        "warning",
        "visibility without effect",
        "{key} is {value!r}, which nobody reads: the object is public with it and without it",
        "remove it; only the label {right}: cluster-local has an effect",
        ("F23",),
    ),
    Code(
        "IC2003",
        "error",
        "name too long",
        "object name {name} has {length} characters: must be no more than 63 characters",
        "shorten the name of the service",
        ("F91",),
    ),
    Code(
        "IC2004",
        "error",
        "object name of two owners",
        "{kind} {namespace}/{name} is wanted by {holder} and by {other}: the first one has it, "
        "the other goes without",
        "rename one of the two, or the canary or predictor whose name is in it",
    ),
    Code(
        "IC2010",
        "warning",
        "scheme of the URL contradicts Knative",
        "urlScheme is {wanted} but Knative serves {url}: the published URL has the wrong scheme",
        "set ingress.urlScheme to {scheme}",
        ("F13",),
    ),
    Code(
        "IC2610",
        "warning",
        "scheme of the URL contradicts the gateway",
        "urlScheme is {wanted} but gateway {gateway} serves {scheme} alone: the published URL "
        "has the wrong scheme",
        "set ingress.urlScheme to {scheme}",
        ("F13",),
    ),
    Code(
        "IC2011",
        "warning",
        "service is internal by its domain",
        "nobody asked for a private service, but config-domain makes it one: its URL {url} is "
        "below {domain}, so no gateway of the outside leads to it",
        "put a public domain into the ConfigMap config-domain",
        ("F1",),
    ),
    Code(
        "IC2201",
        "error",
        "route shadowed by an older one",
        "{winner} {rank} {loser} and has the same match on host {host} at {entry}: it "
        "gets the requests and {loser} gets none",
        "delete one of the two, or give it another host",
        ("F101", "F4"),
    ),
    Code(
        "IC2202",
        "error",
        "catch-all hidden by a host",
        "{by} names host {host} at gateway {gateway}, so {hidden} with host {star} is no longer "
        "asked for it: every path of {host} that no rule names becomes 404",
        "choose the hosts of path rules with ingress.pathTemplateHosts, or use a domain of its own",
        ("F8",),
    ),
    Code(
        "IC2203",
        "error",
        "rule swallowed by an older one",
        "{winner} is older and takes {broad} of host {host} at gateway {gateway}: rules of "
        "{loser} are never reached",
        "end the older prefix with a slash, or give one of the two another host",
        ("F9", "F100"),
    ),
    Code(
        "IC2301",
        "error",
        "private host at a public gateway",
        "cluster-local hosts {hosts} would have met a public gateway: they were kept from it",
        "report this as a defect of the source or template that made the route",
    ),
    Code(
        "IC3211",
        "warning",
        "weights do not sum to 100",
        "the weights of rule {rule} sum to {total}: proxies share by the sum, so nobody gets "
        "the share that is written",
        "let the canaries' percentages sum to at most 100",
        ("F94", "F98"),
    ),
    Code(
        "IC3202",
        "error",
        "canary share without effect",
        "canaryTrafficPercent has no effect in Standard mode: the new model gets all traffic at "
        "once, because only spec.canary splits there",
        "use spec.canary, or Knative mode",
        ("F6",),
    ),
    Code(
        "IC3203",
        "warning",
        "canaries without effect",
        "spec.canary has no effect in Knative mode",
        "use predictor.canaryTrafficPercent, or Standard mode",
        ("F6",),
    ),
    Code(
        "IC3204",
        "warning",
        "canary behind a transformer",
        "the transformer calls the stable predictor by name: requests that pass the transformer "
        "never reach a canary, whatever its share",
        "split at the host of the predictor, or run a canary of the whole service",
        ("F46",),
    ),
    Code(
        "IC3205",
        "warning",
        "tags without effect",
        "annotation {annotation} has no effect in Standard mode",
        "use Knative mode for tagged hosts",
        ("F28",),
    ),
    Code(
        "IC3220",
        "info",
        "traffic split changes in the Knative Service",
        "the split lives in {service}, not in the routes: it changes from {old} to {new}",
        "see the object with --write routes,workloads, and the way of a request with "
        "explain --assume ready",
    ),
    Code(
        "IC3221",
        "info",
        "canary share before the first rollout",
        "canaryTrafficPercent {percent} has no effect yet: no revision of {service} is known to "
        "be rolled out, so the first one gets all traffic",
        "roll a first revision out, then set the percentage beside a new model",
    ),
    Code(
        "IC3210",
        "error",
        "timeout over Knative's maximum",
        "{component}.timeout of {wanted} seconds is over {setting}, which is {most}: Knative "
        "refuses the revision",
        "raise {setting} in the ConfigMap config-defaults, or lower the timeout",
        ("F5",),
    ),
    Code(
        "IC3401",
        "error",
        "backend without such a port",
        "{service} has no port {port}, only {present}: the backend never answers",
        "name a port that the Service has",
        ("F25",),
    ),
    Code(
        "IC3402",
        "info",
        "backend renamed",
        "requests for {old} go to {new} from now on",
        "look for clients and dashboards that use the old name",
        ("F15",),
    ),
    Code(
        "IC3403",
        "warning",
        "reference to a renamed backend",
        "it still sends to {old}, which becomes {new}: it will get 404",
        "change it to the new name",
        ("F15",),
    ),
    Code(
        "IC3404",
        "warning",
        "Knative Service left behind",
        "{old} was replaced by {new} and belongs to nobody any more",
        "delete it once the new one is ready",
        ("F15",),
    ),
    Code(
        "IC5001",
        "error",
        "no such gateway",
        "there is no {kind} {gateway}: nothing serves the route",
        "create the gateway, or correct its name in the configuration",
        ("F54", "F55"),
    ),
    Code(
        "IC5002",
        "info",
        "gateway not among the input",
        "gateway {gateway} is not among the input: it is taken to admit every host",
        "add the Gateway to the input, or read the cluster, to know what it admits",
        ("F54",),
    ),
    Code(
        "IC5003",
        "error",
        "no such ingress class",
        "there is no IngressClass {name}: no controller serves the Ingress",
        "correct ingress.ingressClassName",
        ("F56", "F57"),
    ),
    Code(
        "IC5004",
        "error",
        "no such gateway class",
        "gateway {gateway} is of class {name}, which does not exist: no controller serves it",
        "install the controller, or correct gatewayClassName",
        ("F54",),
    ),
    Code(
        "IC5005",
        "error",
        "gateway not programmed",
        "gateway {gateway} says that it is not {condition}: {text}",
        "mend the gateway; its routes are not served meanwhile",
        ("F54",),
    ),
    Code(
        "IC5006",
        "warning",
        "gateway not offered",
        "annotation {annotation} names {name}, which the configuration does not offer: {offered}",
        "add it to ingress.ingressGateways, or choose another",
        ("F55",),
    ),
    Code(
        "IC5007",
        "warning",
        "Ingress for Istio",
        "Standard mode makes an Ingress of class {name} (ingress.ingressClassName) and no "
        "VirtualService; nothing here says that a controller serves the class",
        'set provider to {{"Standard": "istio"}} in key ingress of inferenceservice-config for a '
        "VirtualService, or "
        "{gateway_api} for HTTPRoutes",
        ("F57",),
    ),
    Code(
        "IC5008",
        "warning",
        "two gateway configurations",
        "ingressGateway serves the service at {ours}, external-gateways of config-istio its "
        "components at {theirs}: the two halves are at different gateways",
        "let ingress.ingressGateway and config-istio name the same gateway",
        ("F107",),
    ),
    Code(
        "IC5601",
        "warning",
        "ingress class of the annotation without effect",
        "annotation {annotation} asks for class {asked}, but ingress.ingressClassName makes the "
        "Ingress one of class {given}: the annotation is left out",
        "remove the annotation; the class comes from the configuration",
        ("F56",),
    ),
    Code(
        "IC2101",
        "error",
        "host belongs to somebody else",
        "host {host} is held by {holder}, which is {why}",
        "rename the service or change its domain",
        ("F4", "F117"),
    ),
    Code(
        "IC3001",
        "error",
        "runtime not usable",
        "{text}",
        "{remedy}",
    ),
    Code(
        "IC5009",
        "error",
        "route that no listener admits",
        "nothing at {entry} serves it: {reasons}",
        "allow the namespace, host and kind at a listener, or choose another gateway",
        ("F54",),
    ),
    Code(
        "IC4301",
        "warning",
        "path template without effect",
        "provider {provider} cannot cut a path off, so pathTemplate has no effect",
        "use the provider gateway_api or istio",
        ("F12",),
    ),
    Code(
        "IC5101",
        "error",
        "foreign object in the way",
        "{kind} {namespace}/{name} is not owned by {owner}: it is left alone and the "
        "route is not made",
        "rename one of the two, or delete the object",
        ("F110", "F58"),
    ),
    Code(
        "IC3201",
        "error",
        "tag host too long",
        "tag {tag} would make the host label {label!r} of {length} characters: "
        "must be no more than 63 characters; the untagged route is kept",
        "shorten the name, or take enable-tag-routing off",
        ("F28",),
    ),
    Code(
        "IC4101",
        "error",
        "provider template failed",
        "provider {provider}: {text}",
        "mend the template; nothing of this object is written meanwhile",
    ),
    Code(
        "IC3301",
        "warning",
        "login in front of the model",
        "{policy} asks {login} about every request at {entry}: a call without a session or "
        "token gets 302 to its login page instead of an answer",
        "call with a token that {login} accepts (an Authorization: Bearer header), as programs "
        "have no browser session",
        ("F105",),
    ),
    Code(
        "IC3302",
        "error",
        "policy refuses probes",
        "{policy} admits only calls with {needs}: it refuses the probes of activator and "
        "autoscaler from namespace {knative} (RBAC: access denied), so the service stays "
        "Unknown or unreachable",
        "add a rule to it that admits source namespace {knative} to the paths {paths}; keep the "
        "others",
        ("F105",),
    ),
    Code(
        "IC3304",
        "warning",
        "not evaluated",
        "{what} is not evaluated: the answer may differ where it acts",
        "",
    ),
    Code(
        "IC3305",
        "error",
        "pattern refused",
        "{text}",
        "rewrite the expression in RE2 syntax, or match by exact path or prefix",
    ),
    Code(
        "IC3306",
        "warning",
        "short name of a backend",
        "destination host {host} is not completed by Istio: no such service is found (503)",
        "write {full}",
        ("F100",),
    ),
    Code(
        "IC3307",
        "warning",
        "backend not in the input",
        "{backend}: a gateway answers {status} for its share",
        "add the Service, or correct the name or port",
    ),
    Code(
        "IC3308",
        "warning",
        "requests go in a circle",
        "{entry} sends the request for host {host} to itself",
        "change the Host rewrite of {rule}",
    ),
    Code(
        "IC3309",
        "warning",
        "policy refuses the request",
        "{policy} {why}: the call ends with 403 (RBAC: access denied)",
        "add a rule to it that admits this call",
        ("F105",),
    ),
    Code(
        "IC3310",
        "warning",
        "a later hop is more patient than an earlier one",
        "{tight} ends the request after {limit}, although {patient} would wait {longer}",
        "raise the limit of {tight}, or lower the other",
        ("F5",),
    ),
    Code(
        "IC3311",
        "warning",
        "hidden retries",
        "{entry} repeats a failed {method} up to {attempts} times: a model may compute one "
        "request several times",
        "set retries.attempts: 0 in {rule}",
        ("F29", "F5"),
    ),
    Code(
        "IC4001",
        "warning",
        "lost in translation",
        "provider {provider} cannot express {what}",
        "{remedy}",
    ),
    Code(
        "IC4201",
        "error",
        "host served for somebody else",
        "host {host} is served for {holder}: this owner's rules for it are left out",
        "rename one of the two, or change its domain",
    ),
    Code(
        "IC4202",
        "info",
        "served without TLS",
        "{hosts} is served in clear text on this machine",
        "use http:// in URLs for `up`",
    ),
    Code(
        "IC7101",
        "info",
        "writing is paused",
        "{object} has the annotation ingressctl.dev/paused: nothing is written for it",
        "take the annotation off to go on",
    ),
    Code(
        "IC6001",
        "warning",
        "part of a graph without effect",
        "{text}",
        "{remedy}",
    ),
    Code(
        "IC6002",
        "warning",
        "step that cannot be called",
        "{text}",
        "the graph waits: make the target, or correct its name",
    ),
    Code(
        "IC6003",
        "warning",
        "step that calls a public name of the cluster",
        "{host} is a public name of this cluster, no serviceName: from inside it leads to the "
        "gateway and back, or to nothing",
        "write the name of the InferenceService as serviceName instead of serviceUrl",
        ("F75",),
    ),
    Code(
        "IC6004",
        "warning",
        "initial scale that is not taken",
        "the annotation {annotation} is {value!r}, which Knative would refuse: it is left out",
        "write a whole number; 0 only where config-autoscaler has allow-zero-initial-scale",
        ("F115",),
    ),
    Code(
        "IC6005",
        "warning",
        "step that calls the router of a graph for a model",
        "{host} is the Service of {graph}, whose router answers there, and not a model",
        "name the InferenceService as serviceName, or give the graph another name",
    ),
    Code(
        "IC7102",
        "warning",
        "contested object",
        "{manager} keeps changing {fields} of {object}: it is left alone for {seconds} s",
        "let one of the two write it, or put ingressctl.dev/paused on it",
    ),
    Code(
        "IC7103",
        "warning",
        "write without effect",
        "the API server stores {object} otherwise than it is written: {fields}",
        "look for an admission webhook that changes it",
    ),
    Code(
        "IC7104",
        "error",
        "write refused",
        "the API server refuses {object}: {text}",
        "correct what the text names; it is tried again",
    ),
)


class _Lenient(Formatter):
    """Fills what is there; an argument that is absent is a defect shown as its name."""

    def get_value(self, key: int | str, args: object, kwargs: object) -> object:
        assert isinstance(kwargs, dict)
        return kwargs.get(key, f"<{key}>")


_FORMATTER = _Lenient()


def row(finding: Finding) -> Code:
    """The row of a finding's code."""
    return TABLE[finding.code]


def message(finding: Finding) -> str:
    """What happened, in one sentence."""
    return _FORMATTER.vformat(row(finding).template, (), dict(finding.args))


def remedy(finding: Finding) -> str:
    """What to do next, or ""."""
    return _FORMATTER.vformat(row(finding).help, (), dict(finding.args))


def level(finding: Finding) -> Level:
    """info, warning or error."""
    return row(finding).level


def is_loud(finding: Finding) -> bool:
    """Whether it is told even to somebody who asked for quiet."""
    return level(finding) != "info"
