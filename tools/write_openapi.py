"""Writes the server's OpenAPI document to a file, from which `make web` writes the types of the web client."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trueweave.core.settings import Settings
from trueweave.server.app import create_app


def main() -> None:
    """Write the document to the file that the command names."""
    described = create_app(Settings()).openapi()
    Path(sys.argv[1]).write_text(json.dumps(described, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
