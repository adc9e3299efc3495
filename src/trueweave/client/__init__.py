"""AsyncClient: one workspace of a server, with the calls and types of AsyncTrueweave. The class is in `client`."""
