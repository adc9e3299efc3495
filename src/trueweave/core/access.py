"""Access rules: who can read the documents whose uris begin alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trueweave.core.errors import InvalidArgument
from trueweave.core.record import EVERY_GROUP, groups_of, is_storable

_LONGEST = 2000  # bytes, as of a uri


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The groups that can read the documents whose uris begin with `prefix`, unless readers were given with them. No
    groups: everybody. If several rules match a uri, the one with the longest prefix applies."""

    prefix: str
    readers: tuple[str, ...]

    @classmethod
    def of(cls, prefix: str, readers: Iterable[str]) -> AccessRule:
        """A rule as somebody wrote it. Raises InvalidArgument if it cannot be one."""
        return cls(rule_prefix(prefix), checked_readers(readers))


def rule_prefix(given: str) -> str:
    """The prefix of a rule: a trailing ** is dropped, as in `hr/**`. Raises InvalidArgument if it cannot be one."""
    prefix = given.removesuffix("**")
    if "*" in prefix:
        raise InvalidArgument(
            f"{given[:60]!r} is a pattern, and access rules are for the beginning of uris. Write it like hr/ or hr/**."
        )
    if not is_storable(prefix) or len(prefix.encode()) > _LONGEST:
        raise InvalidArgument(f"the prefix {given[:60]!r} cannot begin a uri: those have up to {_LONGEST:,} bytes.")
    return prefix


def checked_readers(given: Iterable[str]) -> tuple[str, ...]:
    """Groups that can be the readers of documents. Raises InvalidArgument for one that cannot."""
    try:
        found = groups_of(given)
    except ValueError as error:
        raise InvalidArgument(f"{error}.") from error
    if EVERY_GROUP in found:
        raise InvalidArgument(f"the group {EVERY_GROUP!r} means all documents; it cannot be a reader.")
    return found
