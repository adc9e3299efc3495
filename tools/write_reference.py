"""Writes docs/reference/settings.md from the settings themselves. `make docs` fails while it is out of date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from weft.config import PREFIX, Settings

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "settings.md"

_HEAD = f"""# Settings

In `weft.toml`, in the environment as `{PREFIX}…`, or by the caller; the later of these outweighs the earlier.
This page is written by `make reference`.

| setting | default | |
|---|---|---|
"""


def page() -> str:
    """The page as it should be."""
    lines = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = "none" if default is None else f"`{json.dumps(default, default=str)}`"
        if isinstance(default, dict):
            shown = f"`{', '.join(default)}`" if default else "none"
        lines.append(f"| `{name}` | {shown} | {field.description} |\n")
    return _HEAD + "".join(lines)


def main() -> None:
    if "--check" in sys.argv:
        if PAGE.read_text("utf-8") != page():
            sys.exit(f"{PAGE.name} is out of date: run `make reference`")
        return
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
