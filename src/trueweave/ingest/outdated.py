"""Which documents are out of date, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from trueweave.core.jobs import OutOfDate
from trueweave.graph.contribution import Made


def outdated(made: Iterable[tuple[Made, int]], now: Made) -> list[OutOfDate]:
    """The documents, by recipe, that are out of date: the settings have changed since."""
    found: Counter[tuple[str, ...]] = Counter()
    for one, documents in made:
        if one != now:
            found[_differing(one.recipe, now.recipe)] += documents
    return [OutOfDate(documents, settings) for settings, documents in found.most_common()]


def _differing(before: str, now: str) -> tuple[str, ...]:
    """The settings in which two recipes differ."""
    old, new = json.loads(before), json.loads(now)
    return tuple(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))
