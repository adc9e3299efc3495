"""An Idempotency-Key belongs to the process that carries its request out, for as long as that process has a lease."""

import pytest

from trueweave.extend import Database, Workspace
from trueweave.store.postgres.access import kept_responses
from trueweave.store.postgres.access.kept_responses import KeptResponse, OpenRequest
from trueweave.store.postgres.queue.liveness import Liveness

CALLER, KEY, REQUEST = "caller", b"key", b"request"


async def begin(workspace: Workspace, owner: int) -> OpenRequest | KeptResponse:
    return await kept_responses.begin(workspace, CALLER, KEY, REQUEST, owner)


async def kill(database: Database, process: Liveness) -> None:
    """What others do when the lease of a process has ended."""
    async with database.transaction(None) as tx:
        await tx.run("liveness.leave", owner=process.owner)


async def test_a_key_is_free_as_soon_as_the_lease_of_its_process_has_ended(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    dying, alive, _ = processes
    assert isinstance(await begin(workspace, dying.owner), OpenRequest)
    assert await begin(workspace, alive.owner) == KeptResponse(True, None)
    await kill(database, dying)
    assert isinstance(await begin(workspace, alive.owner), OpenRequest)
    assert await begin(workspace, alive.owner) == KeptResponse(True, None)


@pytest.mark.parametrize("ending", ["keep", "forget"])
async def test_one_who_lost_a_key_changes_nothing_for_the_one_who_has_it(
    database: Database, workspace: Workspace, processes: list[Liveness], ending: str
) -> None:
    """A process that was taken for dead and goes on."""
    slow, other, _ = processes
    lost = await begin(workspace, slow.owner)
    assert isinstance(lost, OpenRequest)
    await kill(database, slow)
    taken = await begin(workspace, other.owner)
    assert isinstance(taken, OpenRequest)
    if ending == "keep":
        await kept_responses.keep(workspace, lost, {"by": "slow"})
    else:
        await kept_responses.forget(workspace, lost)
    assert await begin(workspace, slow.owner) == KeptResponse(True, None)
    await kept_responses.keep(workspace, taken, {"by": "other"})
    assert await begin(workspace, slow.owner) == KeptResponse(True, {"by": "other"})


async def test_an_answer_outlives_the_process_that_gave_it(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    dying, alive, _ = processes
    begun = await begin(workspace, dying.owner)
    assert isinstance(begun, OpenRequest)
    await kept_responses.keep(workspace, begun, [1])
    await kill(database, dying)
    assert await begin(workspace, alive.owner) == KeptResponse(True, [1])


async def test_a_process_without_a_lease_keeps_its_key_for_ten_minutes(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    """As on a server that it has not registered on yet: nobody can tell there whether it is alive."""
    assert isinstance(await begin(workspace, 10**9), OpenRequest)
    assert await begin(workspace, processes[0].owner) == KeptResponse(True, None)
    async with workspace.transaction() as tx:
        await tx.execute("UPDATE kept_response SET made = made - interval '11 minutes'")
    assert isinstance(await begin(workspace, processes[0].owner), OpenRequest)
