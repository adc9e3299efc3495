"""The pydantic configuration of methods: frozen dataclasses whose fields are checked."""

from __future__ import annotations

from pydantic import ConfigDict

# Parts of a method are methods, which pydantic has no schema for; it checks them with isinstance.
CHECKED = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
