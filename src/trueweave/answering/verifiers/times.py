"""English names of months and weekdays."""

from __future__ import annotations

from trueweave.answering.verifiers import lexicon

MONTHS = lexicon.word_set("january february march april may june july august september october november december")
WEEKDAYS = lexicon.word_set("monday tuesday wednesday thursday friday saturday sunday")
