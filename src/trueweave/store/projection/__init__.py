"""Copies of workspaces in other stores: built, kept up to date from the outbox, and compared with the record."""
