"""The programs of the bed: the module and package of each, and what is linked into it."""

from __future__ import annotations

from dataclasses import dataclass

KUBERNETES = "v1.36.3"

_VERSION = "k8s.io/component-base/version"
_KUBERNETES_STAMPS = (
    # Without these clients cannot parse the server's version.
    f"-X {_VERSION}.gitVersion={KUBERNETES}",
    f"-X {_VERSION}.gitMajor=1",
    f"-X {_VERSION}.gitMinor=36",
)


@dataclass(frozen=True, slots=True)
class Program:
    """`module` is a folder below tools/; `package` is what go build is asked for."""

    name: str
    module: str
    package: str
    stamps: tuple[str, ...] = ()

    @property
    def ldflags(self) -> str:
        """No symbols, no debug tables: a quarter of the size."""
        return " ".join(("-s", "-w", *self.stamps))


def _kubernetes(name: str) -> Program:
    return Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", _KUBERNETES_STAMPS)


APISERVER = _kubernetes("kube-apiserver")
KUBECTL = _kubernetes("kubectl")
CONTROLLER_MANAGER = _kubernetes("kube-controller-manager")
ETCD = Program("etcd", "etcd", "go.etcd.io/etcd/server/v3")
ISTIOD = Program("pilot-discovery", "istio", "istio.io/istio/pilot/cmd/pilot-discovery")
HELM = Program("helm", "helm", "helm.sh/helm/v3/cmd/helm")

ALL = (ETCD, APISERVER, KUBECTL, CONTROLLER_MANAGER, ISTIOD, HELM)
