"""A proxy before an API server that does what networks and servers do on bad days."""
