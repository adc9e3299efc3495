"""Verifiers: they judge whether the cited sentences of a passage say what a sentence of an answer says."""

from trueweave.answering.verify.entailment import EntailmentVerifier
from trueweave.answering.verify.judge import JudgeVerifier
from trueweave.answering.verify.rules import RulesVerifier

__all__ = ["EntailmentVerifier", "JudgeVerifier", "RulesVerifier"]
