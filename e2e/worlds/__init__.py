"""The random worlds of the property tests on a real API server, all of them at once.

Each world gets namespaces and domains of its own, so that none of its hosts or paths is
another's. What cannot be had twice, KServe's ConfigMap, stays in the picture of each world; it
is read by ingressctl alone. Objects keep the identities and times that the API server gave them.
"""
