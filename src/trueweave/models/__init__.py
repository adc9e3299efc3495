"""Models that chat, embed or rerank, on servers or on this machine. `opening` opens them, and `paid` calls them."""
