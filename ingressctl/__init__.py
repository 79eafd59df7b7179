"""A traffic-routing control plane for model serving on Kubernetes."""

__version__ = "0.1.0"
