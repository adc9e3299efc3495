"""What a migration needs of Python: keys that are hashes, for each workspace and in the migration's own transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from uuid import UUID

from pgvector.psycopg import register_vector_async

from trueweave.graph.aggregate import name_pair_id
from trueweave.store.postgres import binary_params
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import PostgresConnection
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.locks import count_change
from trueweave.store.postgres.record import resolution
from trueweave.store.postgres.schema.schema import ROLE
from trueweave.store.postgres.view.view import first_keywords, write_phrase_counts

_PAGE = 10_000


async def run(connection: PostgresConnection, migration: str) -> None:
    """Do what a migration needs in each workspace. Row-level security, which binds no superuser, keeps it there."""
    await register_vector_async(connection)
    binary_params.register(connection)
    found = await (await connection.execute("SELECT id FROM workspace ORDER BY id")).fetchall()
    await connection.execute(f"SET LOCAL ROLE {ROLE}")
    for (workspace,) in found:
        await connection.execute("SELECT set_config('trueweave.workspace', %s, true)", (str(workspace),))
        await STEPS[migration](Transaction(connection, workspace))
    await connection.execute("RESET ROLE")


async def _relation_types(tx: Transaction) -> None:
    """Weigh descriptions and keywords by emphasis, count first keywords, and have all texts made of them made again.

    Names whose types differ in case only are alike from now on.
    """
    await tx.run("upgrade.weigh_descriptions_of_names")
    source, target = UUID(int=0), UUID(int=0)
    while pairs := await tx.rows("upgrade.pairs", source=source, target=target, limit=_PAGE):
        source, target = pairs[-1]
        sources, targets = Ids(s for s, _ in pairs), Ids(t for _, t in pairs)
        owners = Ids(name_pair_id(*pair) for pair in pairs)
        for what in ("descriptions", "keywords"):
            await tx.run(f"upgrade.weigh_{what}_of_pairs", sources=sources, targets=targets, owners=owners)
        words = await tx.rows("upgrade.first_keywords", sources=sources, targets=targets)
        await write_phrase_counts(tx, first_keywords((name_pair_id(s, t), *rest) for s, t, *rest in words))
    await tx.run("upgrade.mark_pairs_dirty")
    if await tx.value("upgrade.has_types_in_capitals"):
        await resolution.match_all_again(tx, await resolution.settings(tx))
    else:
        await tx.run("resolve.mark_all_dirty")
    await count_change(tx)


STEPS: Mapping[str, Callable[[Transaction], Awaitable[None]]] = MappingProxyType(
    {"0013_relation_types": _relation_types}
)
