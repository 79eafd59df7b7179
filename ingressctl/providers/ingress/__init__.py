"""Kubernetes Ingress: hosts and paths to Services, and little else."""

from ingressctl.providers.ingress.provider import Ingress

provider = Ingress()

__all__ = ["Ingress", "provider"]
