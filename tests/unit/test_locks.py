"""Which shards a batch must hold."""

from uuid import UUID

from trueweave.store.postgres.locks import MOST_LOCKS, SHARDS, WHOLE, covered, shards_of


def names(count: int) -> list[UUID]:
    return [UUID(int=n) for n in range(count)]


def test_names_fall_into_a_bounded_number_of_shards() -> None:
    assert shards_of([UUID(int=3), UUID(int=SHARDS + 3), UUID(int=2 * SHARDS - 1)]) == {3, SHARDS - 1}
    assert shards_of([]) == frozenset()


def test_too_many_shards_become_the_whole_workspace() -> None:
    assert shards_of(names(MOST_LOCKS)) == set(range(MOST_LOCKS))
    assert shards_of(names(MOST_LOCKS + 1)) == {WHOLE}


def test_the_whole_workspace_covers_every_shard_and_is_covered_by_itself_alone() -> None:
    one, two, whole = frozenset((1,)), frozenset((1, 2)), frozenset((WHOLE,))
    assert covered(one, two)
    assert not covered(two, one)
    assert covered(two, whole)
    assert covered(whole, whole)
    assert not covered(whole, two)
