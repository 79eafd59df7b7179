"""Where ingressctl deliberately does not follow the reference systems.

One table. A row is one switch; every id of a row is an alias of it. The ids are the
quirks of the specifications (Q, R, W, S, IG-) and the field reports (F). Sources ask
`reads.differs("Q4")`; validation gets the `Compat`; nothing else may ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Difference:
    """One switch: its ids, what the reference does, what is done instead and why."""

    ids: tuple[str, ...]
    reference: str
    better: str
    why: str

    @property
    def id(self) -> str:
        """The id that outputs carry."""
        return self.ids[0]


class UnknownDifference(ValueError):
    """A `--compat` text names an id that the table does not have."""


@dataclass(frozen=True, slots=True)
class Compat:
    """The set of differences that are on, by the first id of their row."""

    on: frozenset[str]
    text: str
    _switches: Mapping[str, bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        switches = {key: row.id in self.on for key, row in _INDEX.items()}
        switches.update(dict.fromkeys(_ALWAYS, True))
        object.__setattr__(self, "_switches", switches)

    def differs(self, identity: str) -> bool:
        """Whether the switch with that id or alias is on. Unknown ids are a bug."""
        try:
            return self._switches[identity]
        except KeyError:
            raise UnknownDifference(f"no difference {identity!r} in the table") from None

    @staticmethod
    def parse(text: str) -> Compat:
        """``kserve``, ``better``, or either with ids: ``kserve,+F29``, ``better,-Q4``.

        Raises UnknownDifference with the sentence to show.
        """
        base, *changes = [part.strip() for part in text.split(",")]
        if base not in ("kserve", "better"):
            raise UnknownDifference(f"compat must start with kserve or better, not {base!r}")
        on = set() if base == "kserve" else {row.id for row in TABLE}
        for change in changes:
            sign, identity = change[:1], change[1:]
            if sign in ("+", "-") and identity in _ALWAYS:
                if sign == "-":
                    raise UnknownDifference(f"{identity} cannot be switched off")
                continue
            if sign not in ("+", "-") or identity not in _INDEX:
                raise UnknownDifference(
                    f"{change!r} is not a known difference: write +ID or -ID with an id "
                    "of `ingressctl version --differences`"
                )
            (on.add if sign == "+" else on.discard)(_INDEX[identity].id)
        return Compat(frozenset(on), text)


TABLE: tuple[Difference, ...] = (
    Difference(
        ("Q1", "F36", "F37"),
        "The service host is cut out of the component's URL by text replacement.",
        "Exactly the component's object name at the start of the host is replaced.",
        "Names and namespaces that contain -predictor or -default get the right host.",
    ),
    Difference(
        ("Q2", "F38", "F39"),
        "Only the full in-cluster name matches, and only in lower case.",
        "name.ns, name.ns.svc and the full name match, in any letter case.",
        "In-cluster clients use all three, and host names have no case.",
    ),
    Difference(
        ("Q3", "F1", "F57"),
        "IngressReady turns True although no route was made, or its class does not exist.",
        "IngressReady is True only while the wanted route exists, of a class that exists.",
        "Nobody should be sent to a URL that nothing serves.",
    ),
    Difference(
        ("Q4", "F47"),
        "Removed hostnames, timeouts, labels and annotations stay on HTTPRoutes.",
        "Routes are compared exactly after normalising API defaults.",
        "A retired host must stop being served.",
    ),
    Difference(
        ("Q5", "F49", "F56"),
        "Ingress annotations are frozen at creation and never filtered.",
        "They follow; the disallowed ones are left out, and the class where one is configured.",
        "Annotations drive ingress controllers, and a class given twice is refused.",
    ),
    Difference(
        ("F31",),
        "Labels and annotations of a route are replaced whole, those of somebody else with them.",
        "Keys that came from the InferenceService follow it; keys of others stay.",
        "DNS and certificate controllers keep their marks on the routes they serve.",
    ),
    Difference(
        ("F89",),
        "Ready is True as soon as the route is written, or accepted.",
        "The first Ready and the URL of a new host wait until the gateway answers for the "
        "route, or had time to follow; the old host is served so long.",
        "The first request after Ready must not meet a gateway that knows nothing yet.",
    ),
    Difference(
        ("Q7", "F42", "F48"),
        "Routes that are no longer wanted stay.",
        "Owned routes that are not wanted are deleted.",
        "A service declared private must not stay reachable.",
    ),
    Difference(
        ("Q9", "F35", "F44", "F45"),
        "Ingress sends the transformer host to the predictor and loses the explainer.",
        "Host X leads to component X, and :explain of the service host to the explainer.",
        "The documented URLs answer.",
    ),
    Difference(
        ("Q10", "F12"),
        "Path routing over HTTPRoute never matches below its prefix, and its catch-all "
        "takes the whole shared domain.",
        "PathPrefix with a prefix rewrite, on the shared host alone.",
        "Path routing works and leaves the rest of the domain alone.",
    ),
    Difference(
        ("Q11", "F46"),
        "Canary weights are put on explainer and transformer rules too.",
        "Only rules that lead to the predictor are split.",
        "Raw input must not skip the transformer.",
    ),
    Difference(
        ("Q13", "F41"),
        "An internal service has path rules and a public path URL.",
        "No path rules, internal URL.",
        "Private never becomes public.",
    ),
    Difference(
        ("Q14", "F40"),
        "The known domain is any textual suffix, visited in random order.",
        "The longest known domain at a label boundary.",
        "Additional hosts do not flap.",
    ),
    Difference(
        ("Q15", "F4"),
        "Two services may claim one host.",
        "The holder keeps it, else the older; the other says so.",
        "Which model answers must not depend on the gateway.",
    ),
    Difference(
        ("Q16", "F3"),
        "A component host over 63 characters fails the pass, even if nothing publishes it.",
        "Only hosts that are published must be valid, and the condition tells which is not.",
        "Private services need no public name.",
    ),
    Difference(
        ("Q17", "F51"),
        "A missing label or annotation in the template ends as an invalid <no value> host.",
        "The message names the missing key.",
        "The user can mend it.",
    ),
    Difference(
        ("Q18",),
        "A trailing dot of a rendered host lands in Ingress hosts and url.",
        "It is stripped.",
        "Gateways do not match it.",
    ),
    Difference(
        ("Q20",),
        "Ready ignores transformer, explainer and canary routes.",
        "Ready needs every component in spec.",
        "Ready should mean that requests are answered.",
    ),
    Difference(
        ("Q21", "F53"),
        "Any parent's condition of any generation decides.",
        "Only our parentRef at the present generation decides.",
        "A foreign gateway must not speak for ours.",
    ),
    Difference(
        ("Q23",),
        "The scheme of the component's URL is overwritten with urlScheme.",
        "It is left alone.",
        "It says how the component is served.",
    ),
    Difference(
        ("Q24", "F43"),
        "Private Standard-mode services publish an external URL.",
        "They publish the in-cluster one.",
        "Nothing serves the external one.",
    ),
    Difference(
        ("Q25",),
        "After a promotion the published component URL is not the routed host.",
        "One function renders both.",
        "The URL answers.",
    ),
    Difference(
        ("Q26",),
        "Without the key inferenceService no annotation is disallowed.",
        "The built-in lists always hold.",
        "kubectl's bookkeeping never reaches routes.",
    ),
    Difference(
        ("Q27",),
        "Without the key deploy routing fails.",
        "Knative mode, with a finding.",
        "The rest of the reconcile already treats it so.",
    ),
    Difference(
        ("Q28",),
        "ingressGateway is required in every mode.",
        "Only where a VirtualService needs it.",
        "Gateway API users have none.",
    ),
    Difference(
        ("Q29",),
        "Conditions and status of a removed transformer or explainer stay.",
        "They go with it.",
        "Status describes what is in spec.",
    ),
    Difference(
        ("Q35",),
        "A dark canary with autoscaler none gets no pod.",
        "At least one replica.",
        "It could never become ready.",
    ),
    Difference(
        ("Q38",),
        "A canary's ports are taken from the stable Service.",
        "They are read from its own.",
        "Its backends answer.",
    ),
    Difference(
        ("Q39", "Q12", "F6"),
        "canaryTrafficPercent is not validated and is ignored in Standard mode.",
        "0..100 at admission; refused in Standard mode, which has spec.canary.",
        "A field that cannot work must not be silent.",
    ),
    Difference(
        ("Q43", "F50"),
        "A path template that cannot work is only logged.",
        "It is an error, and one that two namespaces share is refused.",
        "Two services must not fight for one path.",
    ),
    Difference(
        ("Q44",),
        "A changed default mode locks old services.",
        "Defaulting follows the mode in status.",
        "Updates stay possible.",
    ),
    Difference(
        ("Q45",),
        "Standard mode reads the mode annotation again and may fail the pass.",
        "The resolved mode is used everywhere.",
        "One answer to one question.",
    ),
    Difference(
        ("Q46", "F23"),
        "Each visibility label works in its own mode only.",
        "Both labels work in both modes.",
        "A misplaced label must not publish a service.",
    ),
    Difference(
        ("Q48",),
        "The private domain is the literal svc.cluster.local.",
        "It is svc. plus the cluster domain.",
        "Clusters may be called otherwise.",
    ),
    Difference(
        ("Q51",),
        "A predictor without implementation is refused with a Go panic.",
        "With the validator's text.",
        "The user can mend it.",
    ),
    Difference(
        ("F5",),
        "A timeout is written into the HTTPRoute as it is, negative or with too many digits.",
        "A negative one is refused; a long one is written in hours, minutes and seconds.",
        "The API server refuses such an HTTPRoute, and with it every rule of the service.",
    ),
    Difference(
        ("F25",),
        "Port 80 leads to a container's first port, and routes name it whatever the Service has.",
        "It leads to the first that is not gRPC; routes name a port that the Service has.",
        "Backends without such a port never answer, and REST callers reach a gRPC server.",
    ),
    Difference(
        ("F26", "Q19"),
        "gRPC needs the KServe v2 path as well as the content type; explain needs the v1 path.",
        "Content type application/grpc decides; explain takes any model name, and the v2 path.",
        "Health checks, reflection and explain requests reach the server that answers them.",
    ),
    Difference(
        ("F27",),
        "A second canary gives its share to the rejected revision until its own is ready.",
        "The newest revision is named while a rejected one is the newest ready.",
        "A revision that was taken back must not get traffic again.",
    ),
    Difference(
        ("F28", "Q40"),
        "A tag that makes the host too long is put on the Knative Service all the same.",
        "The untagged route is kept and the tag reported.",
        "Knative could no longer reconcile the route at all.",
    ),
    Difference(
        ("F29",),
        "Istio retries predictions by itself.",
        "Retries are off unless asked for.",
        "One request must not compute three times.",
    ),
    Difference(
        ("F119",),
        "A Knative-mode model never learns the host that its client used.",
        "X-Forwarded-Host carries the public host.",
        "Links and redirects that the model writes lead back to where the client came from.",
    ),
    Difference(
        ("R1",),
        "A framework key overwrites the model beside it.",
        "Two implementations are refused.",
        "Nothing the user wrote is lost.",
    ),
    Difference(
        ("R2",),
        "Format onnx without protocol finds no shipped runtime.",
        "Key and format share one rule.",
        "The two spellings mean one thing.",
    ),
    Difference(
        ("R3",),
        "The model format annotation stays when the format changes.",
        "It follows unless the user set another value.",
        "It describes the model.",
    ),
    Difference(
        ("R4",),
        "A framework key in a canary has no effect.",
        "It is rewritten to model as for the predictor.",
        "The canary is what was asked for.",
    ),
    Difference(
        ("R5",),
        "The priority of another entry of the format counts.",
        "That of the entry that matches.",
        "Priority means the entry it is written at.",
    ),
    Difference(
        ("R6",),
        "Pod of the cluster's runtime with the annotations of the namespace's.",
        "All from one object.",
        "They describe each other.",
    ),
    Difference(
        ("R7", "W12"),
        "A second port without a name blocks everything.",
        "A name is made up: port-9000.",
        "The API server demands one.",
    ),
    Difference(
        ("R8",),
        "kserve-container not first stands there twice.",
        "The order is kept.",
        "The Deployment was refused.",
    ),
    Difference(
        ("R9",),
        "Several custom containers without kserve-container panic in every pass.",
        "Refused at admission.",
        "The user sees it.",
    ),
    Difference(
        ("R10",),
        "A canary of another format fails the whole pass.",
        "A runtime is chosen for the canary; its error leaves the stable alone.",
        "A canary must not take the service down.",
    ),
    Difference(
        ("R11",),
        "Defaults of the server type are applied twice to a canary.",
        "Once.",
        "Servers refuse doubled arguments.",
    ),
    Difference(
        ("R12",),
        "workerSpec with a runtime without one panics in every pass.",
        "Refused at admission.",
        "The user sees it.",
    ),
    Difference(
        ("R13",),
        "A runtime made later silently takes over.",
        "The runtime in status stays while it fits.",
        "Models do not change servers by themselves.",
    ),
    Difference(
        ("R14",),
        "Clashing priorities within the first runtime are accepted.",
        "Always refused.",
        "The check must not depend on other objects.",
    ),
    Difference(
        ("R15",),
        "The error prints a memory address.",
        "Name and version.",
        "One fault has one text.",
    ),
    Difference(
        ("R16",),
        "No condition tells that no runtime fits.",
        "PredictorReady is False with the reason; routes stay.",
        "Silence is not an answer.",
    ),
    Difference(
        ("F52",),
        "Names of predictors and canaries are free text; a Service of such a name is refused "
        "for ever.",
        "Refused at admission unless a Service can be called so.",
        "The user sees it before anything starts.",
    ),
    Difference(
        ("W3",),
        "A default limit below the own request is stored, the Deployment is refused for ever.",
        "A default never contradicts what the user wrote: it is moved to it.",
        "The pod starts.",
    ),
    Difference(
        ("W4",),
        "Without the key security pods do not get the token of their service account.",
        "They get it unless the key says otherwise.",
        "An absent key changes nothing.",
    ),
    Difference(
        ("Q6", "W18"),
        "The clean-up of canaries deletes and re-creates multi-node workers in every pass.",
        "Workers are left out of it.",
        "A multi-node service comes to rest.",
    ),
    Difference(
        ("W7",),
        "Placeholders are filled in as JSON text, so quotes in them fail.",
        "Each string is filled in before it is JSON.",
        "A template may call a function with a text.",
    ),
    Difference(
        ("W8",),
        "The accelerator's suffix is put on an image that the user set.",
        "Only on the runtime's image.",
        "The user's image is what the user wrote.",
    ),
    Difference(
        ("W13",),
        "A custom explainer gets --http_port even if it has one.",
        "Only if absent.",
        "Its own port holds.",
    ),
    Difference(
        ("W27",),
        "Labels and annotations of a component Service are frozen at creation.",
        "They follow.",
        "Selectors and monitors read them.",
    ),
    Difference(
        ("W29", "Q31"),
        "Workloads of a removed component or of an old name stay.",
        "Owned workloads that are not wanted are deleted.",
        "Nothing runs that nobody asks for.",
    ),
    Difference(
        ("IG-D1",),
        "A graph with a loop is stored; the first request runs without end or kills the router.",
        "Refused, also over several graphs, at admission and at the router's start; depth and"
        " calls are bounded.",
        "One object must not be able to stop its own data plane.",
    ),
    Difference(
        ("IG-D3",),
        "A header list that is empty hands every header to every step.",
        "Empty entries are ignored: an empty list hands on none.",
        "Tokens and cookies must not leak to models.",
    ),
    Difference(
        ("IG-D4",),
        "A body that the read timeout cuts off is sent to the models as if it were complete.",
        "408; no step is called with an incomplete body.",
        "A model must not answer what nobody asked.",
    ),
    Difference(
        ("IG-D6",),
        "A graph that takes longer than serverWrite ends as a closed connection; its timeout "
        "never reaches the router.",
        "timeout is the deadline of the request in both modes, in the route as in the router:"
        " 504 with the error body.",
        "The client learns what happened, and the step that runs is stopped.",
    ),
    Difference(
        ("IG-D7",),
        "Steps go on after the client has left.",
        "The running step is cancelled and the rest is left out.",
        "Work for nobody is most when there is least room for it.",
    ),
    Difference(
        ("IG-D9", "F72"),
        "Soft tolerates statuses alone: a step that cannot be reached, or a member of an "
        "Ensemble that is no JSON object, fails all with 500.",
        "An unreachable step counts as a 502 of that step; an Ensemble takes any JSON, "
        "nothing as null and text as a text.",
        "Soft means that the rest goes on.",
    ),
    Difference(
        ("IG-D10", "F75"),
        "Statuses are lost: 500 for an unreachable step, for a timeout, for a nested Switch "
        "without a match; 200 for a failed step before an unmet condition.",
        "502, 504, 404, and the status of the step whose body is returned.",
        "A caller must be able to tell what is worth a retry.",
    ),
    Difference(
        ("IG-D11",),
        "A condition on the first step of a Sequence is stored and always answers 500.",
        "Refused at admission and at the router's start.",
        "There is no answer before the first step to look at.",
    ),
    Difference(
        ("IG-D12",),
        "Mapping predictions to instances drops all other fields, rounds big integers and "
        "takes the key in any case.",
        "Only the key predictions is renamed; the rest and the raw values stay.",
        "Nobody asked for the loss.",
    ),
    Difference(
        ("IG-D13",),
        "An Ensemble encodes its answers anew: big integers change, keys are sorted, "
        "characters escaped.",
        "The bytes of each answer are put in as they are.",
        "It is exact, and faster.",
    ),
    Difference(
        ("IG-D14",),
        "Any text in data, also $response.predictions, silently means $request.",
        "All but $request and $response is refused at admission and at the router's start.",
        "The step would get another input than its author thinks.",
    ),
    Difference(
        ("IG-D16", "F17"),
        "Header patterns match anywhere in Go's form of a name, case counts, and the list is "
        "split at commas.",
        "A pattern takes the whole name in any case, and the list may be JSON.",
        "Authorization must not let Proxy-Authorization through, and x-b3-.* is meant to match.",
    ),
    Difference(
        ("IG-D17",),
        "Content-Type and Content-Encoding of the client are dropped; with Accept-Encoding "
        "propagated the client gets gzip without being told.",
        "The fields that a body is read by go to the step and back; Accept-Encoding never goes.",
        "Binary tensors and packed bodies break otherwise.",
    ),
    Difference(
        ("IG-D19",),
        "A missing weight breaks the request; weights that do not cover the random point "
        "answer 500.",
        "Weights are shares of their sum; a missing one or a sum of 0 is refused at the start.",
        "Every request finds a route.",
    ),
    Difference(
        ("IG-D21",),
        "Any method and any path runs the graph, also GET /metrics.",
        "405 for all but POST; probes and metrics are the router's own.",
        "A scraper must not call models.",
    ),
    Difference(
        ("IG-D22",),
        "Trace context and request ids are dropped unless a pattern names them.",
        "They are handed on, each call as a span of its own.",
        "A request through a graph can be followed.",
    ),
    Difference(
        ("IG-D24",),
        "Redirects of model servers are followed, 302 as GET without a body.",
        "A redirect is the answer of the step, with its Location.",
        "A model server must not choose whom the router calls.",
    ),
    Difference(
        ("IG-D25",),
        "The body of a request has no limit.",
        "413 above a limit that the graph or a flag sets.",
        "One request must not take the memory of all.",
    ),
    Difference(
        ("IG-D26",),
        "A router that is told to end serves on for 30 s, which is the whole grace period of "
        "its pod.",
        "It serves on for 20 s, or as long as a flag says, and has time left to finish.",
        "A request that came in the last second must not be cut off.",
    ),
    Difference(
        ("IG-D28",),
        "A path with a double slash is answered with a redirect.",
        "The graph runs.",
        "A client that follows sends GET instead of POST.",
    ),
    Difference(
        ("IG-D29", "F71"),
        "A Hard failure in an Ensemble waits for all steps before it, and the others run on.",
        "It is answered at once and the rest is cancelled.",
        "The answer cannot change any more.",
    ),
    Difference(
        ("IG-D30",),
        "An Ensemble step named like the index of an unnamed step is overwritten.",
        "Refused at admission and at the router's start.",
        "No answer is lost.",
    ),
    Difference(
        ("IG-D31",),
        "Fields about the connection reach the steps where a pattern matches them.",
        "They stay with their connection.",
        "They mean the connection to the router, not the one to the step.",
    ),
    Difference(
        ("IG-D32", "F21"),
        "Answers are read whole and their content type is guessed.",
        "The last step's answer is handed on as it comes, with its content type.",
        "Tokens of a language model are wanted one by one.",
    ),
    Difference(
        ("IG-D33",),
        "A Switch answers 404 to a request that is not JSON.",
        "400.",
        "The route is not missing, the request is bad.",
    ),
    Difference(
        ("IG-D34",),
        "In a condition a word counts as 0 when the value is a number.",
        "Values of different types are different.",
        "0 equals no word.",
    ),
    Difference(
        ("IG-D35",),
        "A Switch step without condition, or with one that is no path, is stored and never taken.",
        "Without one it is the default branch, of which there is one; what is no path is refused.",
        "A step that is written is meant to be taken.",
    ),
    Difference(
        ("IG-D36",),
        "A node without steps is stored; a request that gets there has no answer.",
        "Refused at admission and at the router's start.",
        "A request must be answered.",
    ),
    Difference(
        ("IG-D37",),
        "Weights outside of 0..100 are stored if the sum is 100.",
        "Refused at admission and at the router's start.",
        "The first route would take everything.",
    ),
    Difference(
        ("IG-D38",),
        "URLs that do not parse or have another scheme are stored and answer 500, as does a "
        "name without a URL.",
        "Refused: http or https with a host. The router refuses to start with a name alone.",
        "They can never be called.",
    ),
    Difference(
        ("IG-D39",),
        "The router starts without a node root and answers 500 to every request.",
        "It refuses to start.",
        "A pod that cannot work must not become ready.",
    ),
    Difference(
        ("IG-R3", "F69"),
        "A graph in Standard mode is Ready whatever its Deployment says.",
        "Ready only while the Deployment is available.",
        "Ready should mean that requests are answered.",
    ),
    Difference(
        ("IG-R4", "F68"),
        "A graph in Standard mode publishes a URL and makes no route to it.",
        "The route is made by the provider of the configuration, with its scheme; a private "
        "graph publishes its address in the cluster.",
        "Nobody should be sent to a URL that nothing serves.",
    ),
    Difference(
        ("IG-R5",),
        "The autoscaler of a graph stays when the graph is stopped or its class changes.",
        "It is deleted.",
        "Two that set the replicas never agree.",
    ),
    Difference(
        ("IG-R6",),
        "Errors of a graph leave no condition and no event; conditions are those of its workload.",
        "GraphValid, ServicesResolved, RouterReady and RouteReady tell what is in the way, "
        "and events when it changes.",
        "The user can mend it.",
    ),
    Difference(
        ("IG-R7",),
        "A change of mode leaves the objects of the other mode, and the mode is never stored.",
        "The mode is stored once and stays; objects of the other mode are deleted.",
        "Two routers under one name get in each other's way.",
    ),
    Difference(
        ("IG-R8",),
        "The first protocol of a named runtime holds, whatever the service says; gRPC gives "
        "an address without a path.",
        "The protocol of the service holds where the runtime has it; gRPC is refused; a step "
        "may choose its path.",
        "A step calls what its model understands.",
    ),
    Difference(
        ("IG-R10",),
        "Own min-scale is overwritten with 1; cpu gets the KPA class; KEDA has no triggers; "
        "rps, concurrency and memory without target become cpu 80.",
        "An own annotation stays if the field is not set; HPA class for cpu and memory; KEDA "
        "triggers; what a mode cannot scale by is refused at admission.",
        "The graph scales as it was asked to.",
    ),
    Difference(
        ("IG-R11",),
        "All annotations of a graph reach its pods, also kubectl's bookkeeping.",
        "They are filtered as those of a service.",
        "An apply that changes nothing must not roll the pods.",
    ),
    Difference(
        ("IG-R12",),
        "Names too long for the label app are stored.",
        "More than 58 characters are refused at admission.",
        "The objects of such a graph are refused for ever.",
    ),
    Difference(
        ("IG-R17",),
        "A step may name a node, or a service, that cannot exist.",
        "Refused at admission and at the router's start.",
        "A slip of the pen shows before a request does.",
    ),
    Difference(
        ("IG-R18",),
        "In Knative mode a missing config-autoscaler stops every pass.",
        "Its default holds: a scale of zero at the start is not allowed.",
        "The default is what Knative itself takes.",
    ),
    Difference(
        ("IG-R19",),
        "maxReplicas below minReplicas, and negative numbers, are stored.",
        "Refused at admission.",
        "Autoscalers refuse them later, where nobody looks.",
    ),
    Difference(
        ("IG-R20",),
        "With the minimal CRD any router type, dependency or scale metric is stored.",
        "The webhook checks them too.",
        "A router cannot run what it does not know.",
    ),
    Difference(
        ("IG-R21",),
        "Unreachable nodes, fields without effect and conditions that always hold are stored "
        "silently.",
        "They are stored with a warning.",
        "What does nothing is mostly a mistake.",
    ),
)

ALWAYS: tuple[Difference, ...] = (
    Difference(
        ("Q8", "F110"),
        "An object of that name that belongs to somebody else is overwritten.",
        "It is left alone; a condition, and a finding, name it.",
        "A new model must not take an application down.",
    ),
    Difference(
        ("Q50",),
        "Two services that want one object overwrite each other in turn, for ever.",
        "The older service has it; a condition, and a finding, name both and the object.",
        "Routes must not flap.",
    ),
    Difference(
        ("Q30", "F58"),
        "Stop crashes on a VirtualService without owner.",
        "It is left alone.",
        "Foreign objects are not ours to delete.",
    ),
    Difference(
        ("Q33", "F32"),
        "Objects are written in every pass, changed or not.",
        "Nothing is written when nothing differs.",
        "A pass over a quiet cluster costs nothing.",
    ),
)
"""What no `compat` brings back."""

_INDEX = {identity: row for row in TABLE for identity in row.ids}
_ALWAYS = frozenset(identity for row in ALWAYS for identity in row.ids)


def known(identity: str) -> bool:
    """Whether the table has that id or alias."""
    return identity in _INDEX or identity in _ALWAYS


KSERVE = Compat.parse("kserve")
BETTER = Compat.parse("better")
