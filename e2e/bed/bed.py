"""The bed as tests see it: started with the parts they ask for, spoken to by kubectl."""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

import yaml

from e2e.bed import (
    apiserver,
    asking,
    certificates,
    controller_manager,
    crds,
    etcd,
    folders,
    gateways,
    istiod,
    kubeconfigs,
    ports,
    prepared,
    timing,
    waiting,
)
from e2e.bed.kubectl import Kubectl
from e2e.bed.processes import Part

CRDS, CONTROLLERS, ISTIOD, GATEWAY = "crds", "controllers", "istiod", "gateway"
ALL = (CRDS, CONTROLLERS, ISTIOD, GATEWAY)

REACHED = ("127.0.0.1", "10.244.0.1")
"""Addresses of the API server that its certificate is good for: here, and from a pod network."""

CRD_SECONDS = 60


class Bed:
    """A running cluster. `stop` ends every process and removes every file but the logs."""

    gateway: gateways.Gateway

    def __init__(self, logs: Path | None) -> None:
        self.folder = folders.make()
        self.logs = logs or self.folder / "logs"
        self.processes: list[Part] = []
        self._store = self.folder / "etcd"

    @classmethod
    def start(
        cls,
        parts: Collection[str] = ALL,
        *,
        logs: Path | None = None,
        api: apiserver.Settings = apiserver.PLAIN,
        envoy: gateways.Settings = gateways.HERE,
        istiod_environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Bed:
        """With etcd, an API server, `parts` and what those need.

        Logs outlive it if they have a place of their own. Raises absence.Absent if a part cannot
        be had on this machine.
        """
        bed = cls(logs)
        try:
            bed._start(_with_needed(parts), api, envoy, istiod_environment)
        except BaseException:
            bed.stop()
            raise
        return bed

    def __enter__(self) -> Bed:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(
        self,
        parts: Collection[str],
        api: apiserver.Settings,
        envoy: gateways.Settings,
        environment: Mapping[str, str],
    ) -> None:
        if CRDS in parts:
            self._start_with_crds(api)
        else:
            self._start_apiserver(api)
        if CONTROLLERS in parts:
            self._start_controllers()
        if ISTIOD in parts:
            xds = self._start_istiod(envoy.xds, environment)
            if GATEWAY in parts:
                self._start_gateway(envoy, xds)

    def _start_with_crds(self, api: apiserver.Settings) -> None:
        """All are served at the end, whether the store began with them or not."""
        made = crds.everything()
        kept = prepared.place(made)
        has_them = prepared.take(kept, self._store)
        self._start_apiserver(api)
        with timing.measured(f"{'serve' if has_them else 'create'} {len(made)} CRDs"):
            if not has_them:
                self._create(made)
            self._wait_served(crds.paths(made))
        if not has_them:
            prepared.keep(kept, self._store, etcd=self.processes[0].pid)

    def _start_apiserver(self, settings: apiserver.Settings) -> None:
        self.keys = certificates.make(self.folder / "keys", addresses=REACHED)
        clients, peers, port = ports.free(3)
        store, url = etcd.start(self._store, log=self._log("etcd"), ports=(clients, peers))
        self.processes.append(store)
        server, self.url = apiserver.start(
            self.keys, etcd=url, port=port, log=self._log("kube-apiserver"), settings=settings
        )
        self.processes.append(server)
        self.kubeconfig = kubeconfigs.admin(
            self.folder / "admin.kubeconfig", url=self.url, keys=self.keys
        )
        self.kubectl = Kubectl(self.kubeconfig, self.folder / "kubectl")

    def _create(self, made: list[dict[str, Any]]) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": made}, default=str)
        # Unchecked: the description to check by is made anew with every CRD.
        self.kubectl("create", "--validate=false", "-f", "-", stdin=text)

    def _wait_served(self, paths: Iterable[str]) -> None:
        """For a moment after they are established, storage answers that it is not ready."""
        context = asking.trusting(self.keys)

        def wait(path: str) -> None:
            served = functools.partial(asking.is_ok, self.url + path, context)
            waiting.until(f"{path} is served", served, seconds=CRD_SECONDS, watch=self.check)

        with ThreadPoolExecutor(4) as several:
            list(several.map(wait, paths))

    def _start_controllers(self) -> None:
        self.processes.append(
            controller_manager.start(
                self.keys,
                kubeconfig=self.kubeconfig,
                port=ports.free(1)[0],
                log=self._log("kube-controller-manager"),
            )
        )

    def _start_istiod(self, address: str, environment: Mapping[str, str]) -> tuple[str, int]:
        """Where it serves gateways."""
        self.apply(_yaml(_namespace(istiod.NAMESPACE)))
        taken = istiod.Ports(*ports.free(3))
        started = istiod.start(
            self.folder / "istiod",
            kubeconfig=self.kubeconfig,
            address=address,
            ports=taken,
            log=self._log("istiod"),
            environment=environment,
        )
        self.processes.append(started)
        return address, taken.xds

    def _start_gateway(self, settings: gateways.Settings, xds: tuple[str, int]) -> None:
        named = (gateways.PLAIN, gateways.LOCAL, gateways.SECURE)
        self.gateway = gateways.start(
            self.folder / "gateway",
            kubectl=self.kubectl,
            xds=xds,
            ports=settings.ports or dict(zip(named, ports.free(len(named)), strict=True)),
            log=self._log("gateway"),
            settings=settings,
        )
        self.processes.append(self.gateway.process)

    def _log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def apply(self, text: str) -> None:
        """Make the objects of this YAML be there as they are written."""
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)

    def check(self) -> None:
        """Raises processes.Ended if a part ended by itself."""
        for process in self.processes:
            process.check()

    def account(self, namespace: str, name: str) -> Path:
        """A kubeconfig of this ServiceAccount, which is made if it is not there.

        It may do what its bindings allow, which is nothing for a new one.
        """
        self.apply(_yaml(_namespace(namespace), _account(namespace, name)))
        token = self.kubectl("create", "token", name, "-n", namespace, "--duration=24h").strip()
        path = self.folder / f"{namespace}.{name}.kubeconfig"
        return kubeconfigs.account(
            path, url=self.url, ca=self.keys.ca, token=token, namespace=namespace
        )

    def kubectl_as(self, kubeconfig: Path) -> Kubectl:
        """kubectl as whom this kubeconfig names."""
        return Kubectl(kubeconfig, self.folder / "kubectl")

    def stop(self) -> None:
        """End all parts, the last started first."""
        with contextlib.ExitStack() as ending:
            ending.callback(shutil.rmtree, self.folder, ignore_errors=True)
            for process in self.processes:
                ending.callback(process.stop)
            self.processes = []


def _with_needed(parts: Collection[str]) -> set[str]:
    """The gateway's Service has endpoints by a controller; istiod waits for its kinds."""
    wanted = set(parts)
    if GATEWAY in wanted:
        wanted |= {ISTIOD, CONTROLLERS}
    if ISTIOD in wanted:
        wanted.add(CRDS)
    return wanted


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _account(namespace: str, name: str) -> dict[str, Any]:
    place = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": place}


def _yaml(*objects: dict[str, Any]) -> str:
    return yaml.safe_dump_all(objects)
