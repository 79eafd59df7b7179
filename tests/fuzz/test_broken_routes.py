"""Routes and policies of others, broken field by field: explain answers, or the shape refuses.

Every field of rich objects is replaced by every sort of junk. What joins a world by its
shape (api/shapes.py) must never end a question with an exception.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from ingressctl.api import shapes
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import World
from ingressctl.plan import explain
from tests.cases import comparing
from tests.fuzz.test_broken_objects import paths

OBJECTS = comparing.documents("""
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public, namespace: edge}
spec:
  selector: {istio: ingressgateway}
  servers:
  - {hosts: ['*/*'], port: {number: 80, name: http, protocol: HTTP}, tls: {httpsRedirect: false}}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: vs, namespace: shop, creationTimestamp: '2026-01-01T00:00:00Z'}
spec:
  hosts: [shop.example.com]
  gateways: [edge/public, mesh]
  exportTo: ['*']
  http:
  - name: first
    match:
    - uri: {prefix: /x}
      headers: {a: {exact: b}}
      withoutHeaders: {c: {}}
      queryParams: {d: {regex: .*}}
      method: {exact: GET}
      scheme: {exact: http}
      authority: {prefix: shop}
      gateways: [edge/public]
      port: 80
      ignoreUriCase: true
      sourceLabels: {app: x}
      sourceNamespace: y
    redirect: {uri: /, authority: z, port: 1, scheme: https, redirectCode: 302}
  - delegate: {name: other}
  - directResponse: {status: 200}
    match: [{uri: {exact: /direct}}]
  - rewrite: {uri: /, authority: inner, uriRegexRewrite: {match: '^/(.*)$', rewrite: '/\\1'}}
    headers: {request: {set: {a: b}, add: {c: d}, remove: [e]}}
    timeout: 5s
    retries: {attempts: 1}
    fault: {abort: {httpStatus: 500}}
    route:
    - destination: {host: a.shop.svc.cluster.local, subset: v1, port: {number: 80}}
      weight: 10
      headers: {request: {set: {f: g}}}
    - {destination: {host: b}, weight: 90}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: edge}
spec:
  gatewayClassName: envoy
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    hostname: '*.example.com'
    allowedRoutes:
      kinds: [{group: gateway.networking.k8s.io, kind: HTTPRoute}]
      namespaces:
        from: Selector
        selector:
          matchLabels: {kubernetes.io/metadata.name: shop}
          matchExpressions: [{key: other, operator: NotIn, values: [x]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: shop}
spec:
  parentRefs:
  - {group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: edge,
     sectionName: http, port: 80}
  hostnames: [shop.example.com]
  rules:
  - name: one
    matches:
    - path: {type: PathPrefix, value: /}
      headers: [{type: RegularExpression, name: a, value: .*}]
      queryParams: [{type: Exact, name: b, value: c}]
      method: GET
    - {}
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier:
        set: [{name: a, value: b}]
        add: [{name: c, value: d}]
        remove: [e]
    - type: URLRewrite
      urlRewrite: {hostname: x, path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}
    - {type: RequestMirror, requestMirror: {}}
    timeouts: {request: 1s, backendRequest: 1s}
    sessionPersistence: {type: Cookie}
    backendRefs:
    - {group: '', kind: Service, name: a, namespace: models, port: 80, weight: 1}
  - filters:
    - type: RequestRedirect
      requestRedirect: {scheme: https, hostname: x, port: 1, statusCode: 302,
                        path: {type: ReplaceFullPath, replaceFullPath: /}}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: g, namespace: models}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}]
  to: [{group: '', kind: Service, name: a}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: i
  namespace: shop
  annotations: {nginx.ingress.kubernetes.io/rewrite-target: /}
spec:
  ingressClassName: nginx
  defaultBackend: {service: {name: d, port: {number: 80}}}
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: a, port: {name: http}}}}
---
apiVersion: v1
kind: Service
metadata: {name: a, namespace: shop, labels: {x: y}}
spec:
  type: ExternalName
  externalName: knative-local-gateway.istio-system.svc.cluster.local
  selector: {a: b}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: shop, namespace: x, generation: 1}
spec:
  traffic: [{latestRevision: true, percent: 10, tag: t}, {revisionName: r, percent: 90}]
  template:
    spec: {timeoutSeconds: 300, containers: [{ports: [{name: h2c, containerPort: 80}]}]}
status:
  latestReadyRevisionName: shop-00001
  observedGeneration: 1
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: p, namespace: istio-system}
spec:
  action: ALLOW
  selector: {matchLabels: {istio: ingressgateway}}
  provider: {name: login}
  targetRefs: []
  rules:
  - from: [{source: {namespaces: [a], notNamespaces: [b]}}]
    to: [{operation: {paths: ['/x*'], methods: [GET], hosts: ['*']}}]
    when: [{key: 'request.headers[x]', values: [y], notValues: [z]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-domain, namespace: knative-serving}
data: {example.com: '', other.org: 'selector: {a: b}'}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-istio, namespace: knative-serving}
data: {local-gateways: '- {namespace: a, name: b, service: c}'}
""")
JUNK: tuple[Any, ...] = (
    None, "", "x", "(", 7, -1, 1.5, True, [], {}, [None], ["x"], {"a": "b"}, [{}], [[]], {"": None},
)  # fmt: skip
HOSTS = ("shop.example.com", "shop.x.example.com", "a.shop")


def variants(obj: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object with each field replaced by each sort of junk, where its shape allows it."""
    for path in paths(obj):
        if path[0] in ("apiVersion", "kind") or path in (("metadata",), ("metadata", "name")):
            continue
        for junk in JUNK:
            made = copy.deepcopy(obj)
            place: Any = made
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = junk
            if shapes.fault(made) is None:
                yield made


@pytest.mark.parametrize("position", range(len(OBJECTS)), ids=lambda place: OBJECTS[place]["kind"])
def test_a_broken_object_is_refused_or_explained(position: int) -> None:
    for number, made in enumerate(variants(OBJECTS[position])):
        world = World.of([*OBJECTS[:position], made, *OBJECTS[position + 1 :]])
        host = HOSTS[number % len(HOSTS)]
        found = explain.explain(Request("GET", host, "/x", {"a": "b"}), world, Settings())
        assert explain.render_text(found, trace=True).startswith("GET http://")
        assert explain.as_json(found)["request"]["host"] == host
