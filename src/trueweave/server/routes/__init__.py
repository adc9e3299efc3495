"""The rooms of the server, one file for each."""
