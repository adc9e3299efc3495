"""Copies of a workspace in other stores: their state, and the data they are made from."""
