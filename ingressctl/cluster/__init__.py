"""Kubernetes input and output."""
