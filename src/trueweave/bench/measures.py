"""Measures of rankings and answers. Each gives a number from 0 to 1 for one question.

They are implemented here, in a few lines each: see docs/adr/0007-parts.md.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from trueweave.core.errors import ConfigError

Gold = Mapping[str, int]

EVIDENCE_WITHIN = 6000  # characters
_LONG_WORD = re.compile(r"[^\W_]{4,}")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


# --- rankings -----------------------------------------------------------------------------------------


def recall(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of the supporting passages that is among the first k."""
    return len(gold.keys() & set(ranked[:k])) / len(gold)


def ndcg(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The relevance of the first k, each discounted by its rank, as a share of that of the best order."""
    gained = _discounted(gold.get(id_, 0) for id_ in ranked[:k])
    return gained / _discounted(sorted(gold.values(), reverse=True)[:k])


def reciprocal_rank(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """One over the rank of the first supporting passage; 0 if none is among the first k."""
    return next((1 / rank for rank, id_ in enumerate(ranked[:k], 1) if id_ in gold), 0.0)


def average_precision(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The precision at the rank of each supporting passage, averaged over all of these; those not found count as 0."""
    found, total = 0, 0.0
    for rank, id_ in enumerate(ranked[:k], 1):
        if id_ in gold:
            found += 1
            total += found / rank
    return total / len(gold)


def evidence_found(evidence: str, texts: Iterable[str]) -> float:
    """The share of the evidence's words of four letters or more that occur in the first characters of the texts."""
    wanted = _words(evidence)
    read = " ".join(texts)[:EVIDENCE_WITHIN]
    return len(wanted & _words(read)) / len(wanted) if wanted else 0.0


def _words(text: str) -> set[str]:
    return {word.lower() for word in _LONG_WORD.findall(text)}


def _discounted(grades: Iterable[int]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, 1))


_RANKINGS: dict[str, Callable[[Sequence[str], Gold, int], float]] = {
    "recall": recall,
    "ndcg": ndcg,
    "mrr": reciprocal_rank,
    "map": average_precision,
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of rankings and its depth, such as recall@5."""

    what: str
    k: int

    @property
    def name(self) -> str:
        return f"{self.what}@{self.k}"

    def of(self, ranked: Sequence[str], gold: Gold) -> float:
        """The score of one ranking. A passage that is ranked twice counts at its first rank."""
        return _RANKINGS[self.what](list(dict.fromkeys(ranked)), gold, self.k)


def measure(name: str) -> Measure:
    """The measure of that name."""
    what, _, k = name.partition("@")
    if what not in _RANKINGS or not k.isdigit() or int(k) < 1:
        raise ConfigError(f"there is no measure {name}. Available: {', '.join(f'{one}@5' for one in _RANKINGS)}.")
    return Measure(what, int(k))


def usual(ks: Sequence[int]) -> list[Measure]:
    """Recall at each of these depths, and the other measures at the deepest."""
    deepest = max(ks)
    return [*(Measure("recall", k) for k in sorted(ks)), *(Measure(what, deepest) for what in ("ndcg", "mrr", "map"))]


# --- answers ------------------------------------------------------------------------------------------


def exact_match(given: str, answers: Sequence[str]) -> float:
    """1 if the given answer is one of the known answers, ignoring case, punctuation, articles and spaces."""
    return float(any(normalised(given) == normalised(answer) for answer in answers))


def token_f1(given: str, answers: Sequence[str]) -> float:
    """The F1 score of the words of the given answer, compared with the known answer that fits best."""
    return max((_overlap(normalised(given).split(), normalised(answer).split()) for answer in answers), default=0.0)


def _overlap(given: list[str], answer: list[str]) -> float:
    if not given or not answer:
        return float(given == answer)
    common = sum((Counter(given) & Counter(answer)).values())
    return 2 * common / (len(given) + len(answer))


def normalised(text: str) -> str:
    """An answer normalised as in SQuAD: in lower case, without punctuation and articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())
