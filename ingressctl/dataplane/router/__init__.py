"""The router of an InferenceGraph: a request in, calls to the steps, an answer out.

`ports.py` has what its rooms say to one another: the server (HTTP/1.1 in), the engine (the
graph), the upstream client (HTTP/1.1 and HTTP/2 cleartext out).
"""
