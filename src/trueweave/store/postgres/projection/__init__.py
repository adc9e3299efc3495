"""Copies of a workspace in other stores: which there are, and what they are made from."""
