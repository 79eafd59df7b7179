"""How a cluster is reached: the kubeconfig as kubectl reads it, or a pod's own account.

Files are read, never written: a refreshed token stays in memory.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config import incluster_config, kube_config
from kubernetes.aio.config.config_exception import ConfigException

DEFAULT_KUBECONFIG = "~/.kube/config"


class Unusable(Exception):
    """No cluster can be reached with what is given. The message is for people."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chose of kubectl's flags; "" leaves a choice to the kubeconfig."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    as_user: str = ""
    as_groups: tuple[str, ...] = ()

    def headers(self) -> dict[str, str]:
        """Impersonation of a user; groups go by `group_headers`, for there may be several."""
        return {"Impersonate-User": self.as_user} if self.as_user else {}

    def group_headers(self) -> list[tuple[str, str]]:
        """One header for each impersonated group."""
        return [("Impersonate-Group", group) for group in self.as_groups]


@dataclass(frozen=True, slots=True)
class Connection:
    """A configured client, and the namespace that the context names."""

    configuration: Configuration
    namespace: str


async def connect(choice: Choice) -> Connection:
    """The configuration for a choice. Raises Unusable."""
    paths = choice.kubeconfig or os.environ.get("KUBECONFIG") or DEFAULT_KUBECONFIG
    if not any(Path(part).expanduser().is_file() for part in paths.split(os.pathsep) if part):
        return _in_cluster(paths)
    try:
        return await _by_kubeconfig(paths, choice)
    except ConfigException as fault:
        raise Unusable(f"kubeconfig {paths}: {fault}") from None
    except (OSError, ValueError, TypeError, KeyError) as fault:
        raise Unusable(f"kubeconfig {paths} cannot be used: {fault}") from None


def _in_cluster(paths: str) -> Connection:
    configuration = Configuration()
    try:
        incluster_config.load_incluster_config(client_configuration=configuration)
    except ConfigException:
        raise Unusable(f"there is no kubeconfig {paths}") from None
    namespace = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
    return Connection(configuration, namespace.read_text() if namespace.is_file() else "")


async def _by_kubeconfig(paths: str, choice: Choice) -> Connection:
    config = kube_config.KubeConfigMerger(paths).config
    if config is None:
        raise Unusable(f"kubeconfig {paths} is empty")
    name = choice.context or config.value.get("current-context")
    if not name:
        raise Unusable(f"kubeconfig {paths} has no current context: choose one with --context")
    context = config["contexts"].get_with_name(name)
    _override(context.value, choice)
    loader = kube_config.KubeConfigLoader(config_dict=config, active_context=name)
    configuration = Configuration()
    await loader.load_and_set(configuration)
    return Connection(configuration, context.value["context"].get("namespace") or "")


def _override(context: Any, choice: Choice) -> None:
    """Another cluster or user than the context's own."""
    chosen = copy.copy(context["context"])
    if choice.cluster:
        chosen["cluster"] = choice.cluster
    if choice.user:
        chosen["user"] = choice.user
    context["context"] = chosen
