"""The cost of model calls: the ledger, stored replies, and the usage of each caller."""
