"""An API server in memory: enough of a real one to run a controller against in a test's loop."""
