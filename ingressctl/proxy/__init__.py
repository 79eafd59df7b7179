"""The embedded Envoy: xDS server, process, stub backends, files that are followed."""

import os

# gRPC reads it when it is loaded. With fork support on, starting Envoy from a process that
# serves gRPC may leave the child with broken descriptors.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
