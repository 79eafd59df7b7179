"""Every code that answers a field report: found where it should be, silent where not."""
