"""What all of KServe's kinds have in common: configuration, mode, hosts, visibility, metadata."""
