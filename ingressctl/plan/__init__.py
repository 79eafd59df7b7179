"""Questions answered without touching anything: cascade, diff, explain, findings."""
