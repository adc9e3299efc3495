"""The methods: one file each, all using the same context. Users add their own by entry point."""
