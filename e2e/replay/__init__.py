"""Cases of tests/cases, played on a real API server."""
