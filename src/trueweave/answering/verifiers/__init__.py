"""Verifiers: they judge whether the cited sentences of a passage say what a sentence of an answer says."""

from trueweave.answering.verifiers.entailment import EntailmentVerifier
from trueweave.answering.verifiers.judge import JudgeVerifier
from trueweave.answering.verifiers.rules import RulesVerifier

__all__ = ["EntailmentVerifier", "JudgeVerifier", "RulesVerifier"]
