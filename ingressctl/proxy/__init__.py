"""The embedded Envoy: xDS server, bootstrap and process."""
