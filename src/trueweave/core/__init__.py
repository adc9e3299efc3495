"""Values and contracts that every other package uses: errors, events, settings, protocols and types."""
