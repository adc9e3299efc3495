"""Models that chat, embed or rerank, on servers or on this machine, and their wrappers. `opening` opens them."""
