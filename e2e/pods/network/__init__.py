"""Addresses, Services and names of pods that are processes: namespaces, nftables, a DNS server.

Everything hangs below one namespace, the node. Of the machine itself only one interface and two
routes are taken, so that what runs there (API server, Envoy, tests) is reached and reaches.
"""
