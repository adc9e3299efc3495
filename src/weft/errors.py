"""Everything Weft raises on purpose, as one tree.

WeftError
├── ConfigError              a setting is missing or makes no sense
├── InvalidDocument          a document cannot be stored as it is
├── DatabaseError            the database cannot do what was asked
│   ├── EmbeddedServerError  the bundled PostgreSQL did not start, stop or answer
│   │   └── EmbeddedServerMissing
│   ├── MigrationError       the schema is not what this version of Weft expects
│   └── NotIsolated          the connection would see more than one workspace
├── UnknownWorkspace
├── SpaceMismatch            vectors of one model were about to meet those of another
└── RuleError                a merge, split or rename that cannot be carried out

A message says what happened, to what, and what to do next.
"""


class WeftError(Exception):
    """The root: catch this to catch everything that Weft raises on purpose."""


class ConfigError(WeftError):
    """A setting is missing or makes no sense."""


class InvalidDocument(WeftError):
    """A document cannot be stored as it is."""


class DatabaseError(WeftError):
    """The database cannot do what was asked."""


class EmbeddedServerError(DatabaseError):
    """The bundled PostgreSQL did not start, stop or answer."""


class EmbeddedServerMissing(EmbeddedServerError):
    """The bundled PostgreSQL is not installed."""


class MigrationError(DatabaseError):
    """The schema is not what this version of Weft expects."""


class NotIsolated(DatabaseError):
    """The connection would see more than one workspace."""


class UnknownWorkspace(WeftError):
    """There is no workspace of that name."""


class SpaceMismatch(WeftError):
    """Vectors of one model were about to meet those of another."""


class RuleError(WeftError):
    """A merge, split or rename that cannot be carried out."""
