"""Tests on a real cluster: a real API server, Istio and Envoy, started by bed/."""
