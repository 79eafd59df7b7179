"""What `make demo` shows; the manifests here are there to be edited."""
