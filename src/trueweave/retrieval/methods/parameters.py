"""What makes a class a method with parameters: a frozen pydantic dataclass, whose fields are checked."""

from __future__ import annotations

from pydantic import ConfigDict

# Parts of a method are methods, which pydantic knows nothing about: they are checked to be what they must be.
CHECKED = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
