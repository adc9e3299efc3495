"""What model calls cost: the ledger, the replies that were paid for, and the usage of each caller."""
