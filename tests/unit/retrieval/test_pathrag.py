"""Resources that spread over a graph, and the reliability of the paths that they take, worked out by hand."""

from collections import Counter
from uuid import UUID

import pytest

from trueweave import Entity, Relation
from trueweave.methods import PathRag

A, B, C, D, E = range(1, 6)


def reliable(method: PathRag, starts: list[int], *pairs: tuple[int, int], **degrees: int) -> dict[str, float]:
    """The paths between the starts, best first, in a graph of these relations, the first the strongest. Entities have
    as many relations as are given, or more."""
    counts = Counter(end for pair in pairs for end in pair)
    known = {
        UUID(int=n): Entity(UUID(int=n), "ABCDE"[n - 1], "", "", (), 1, (), degrees.get("ABCDE"[n - 1], count))
        for n, count in counts.items()
    }
    relations = [
        Relation(UUID(int=100 + n), UUID(int=a), UUID(int=b), "", "", "", (), 100 - n, 1, ())
        for n, (a, b) in enumerate(pairs)
    ]
    found = method._most_reliable([UUID(int=n) for n in starts], relations, known)
    return {"".join(known[id_].name for id_ in one.item.entities): one.score for one in found}


def test_of_a_chain_each_entity_passes_on_a_share_of_what_it_has() -> None:
    # From A: B 0.8, C 0.8 * 0.8/2 = 0.32, D 0.8 * 0.32/2 = 0.128. (1 + 0.8 + 0.32 + 0.128) / 3.
    found = reliable(PathRag(theta=0.05), [A, D], (A, B), (B, C), (C, D))
    assert found == {"ABCD": pytest.approx(2.248 / 3)}
    assert reliable(PathRag(max_hops=2), [A, D], (A, B), (B, C), (C, D)) == {}
    # C has 0.32 / 2 = 0.16 for each of its relations, in either direction.
    assert reliable(PathRag(theta=0.16), [A, D], (A, B), (B, C), (C, D)).keys() == {"ABCD"}
    assert reliable(PathRag(theta=0.17), [A, D], (A, B), (B, C), (C, D)) == {}


def test_without_decay_all_is_passed_on_and_with_none_only_starts_have_any() -> None:
    # From A: B 1, C 1 * 1/2. From C the same. (1 + 1 + 0.5) / 2
    assert reliable(PathRag(alpha=1), [A, C], (A, B), (B, C)) == {"ABC": pytest.approx(1.25)}
    assert reliable(PathRag(alpha=0), [A, B], (A, B)) == {"AB": 1.0}


def test_what_arrives_over_several_relations_adds_up() -> None:
    # From A: B and C 0.4 each, D 0.8 * (0.4/2 + 0.4/2) = 0.32. Both paths: (1 + 0.4 + 0.32) / 2.
    found = reliable(PathRag(), [A, D], (A, B), (A, C), (B, D), (C, D))
    assert found == {"ABD": pytest.approx(0.86), "ACD": pytest.approx(0.86)}


def test_an_entity_receives_once_and_paths_may_take_a_way_round() -> None:
    # A triangle. From A: B and C 0.4 each; what B and C would give each other comes too late.
    found = reliable(PathRag(), [A, B], (A, B), (B, C), (C, A))
    assert found == {"AB": pytest.approx(1.4), "ACB": pytest.approx((1 + 0.4 + 0.4) / 2)}


def test_relations_beyond_those_that_were_read_take_their_share() -> None:
    # B has 8 relations, of which 2 were read. From A: B 0.8, C 0.8 * 0.8/8 = 0.08. From C, 0.64/8 falls short of 0.1.
    assert reliable(PathRag(), [A, C], (A, B), (B, C), B=8) == {"ABC": pytest.approx(0.94)}
    assert reliable(PathRag(theta=0.11), [A, C], (A, B), (B, C), B=8) == {}
    # A start with too many relations gives nothing out itself, and can still be reached.
    assert reliable(PathRag(), [A, B], (A, B), B=21) == {"AB": pytest.approx(1.8)}
    assert reliable(PathRag(), [A, B], (A, B), A=21, B=21) == {}


def test_of_two_relations_between_the_same_entities_a_path_takes_the_stronger() -> None:
    relations = [
        Relation(UUID(int=100 + n), UUID(int=source), UUID(int=target), "", "", said, (), weight, 1, ())
        for n, (source, target, said, weight) in enumerate([(A, B, "knows", 1), (B, A, "pays", 3)])
    ]
    known = {UUID(int=n): Entity(UUID(int=n), "", "", "", (), 1, (), 2) for n in (A, B)}
    [found] = PathRag()._most_reliable(list(known), relations, known)
    assert [relation.description for relation in found.item.relations] == ["pays"]
