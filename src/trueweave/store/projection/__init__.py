"""Copies of workspaces in other stores: built, brought up to date by the outbox, compared with the record."""
