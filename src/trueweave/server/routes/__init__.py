"""The routes of the server, a file for each kind of resource."""
