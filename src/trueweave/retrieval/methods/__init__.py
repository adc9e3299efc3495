"""The methods: one file each, all over the same context. A user's own is one more entry point."""
