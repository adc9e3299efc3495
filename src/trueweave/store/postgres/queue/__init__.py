"""The queue of jobs, leases on work, liveness of processes, rate limits, and the outbox of changes."""
