"""The parameters of a question, in one place.

Engine and client calls, request bodies, `trueweave ask` and the agent tool get their parameters from these fields. A
parameter that is a plain value takes one line here; one with its own notation (a filter is a JSON object in a request,
and `--where` on the command line) is converted where that notation is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from trueweave.core.answers import AnswerOptions
from trueweave.core.events import Listener, ignore
from trueweave.core.evidence import Filter
from trueweave.core.model_calls import Message
from trueweave.core.parameters import Parameter

if TYPE_CHECKING:
    from trueweave.core.protocols import Verifier
    from trueweave.retrieval.context import Method
else:
    Method = Verifier = Any  # loading these imports numpy, which would slow down `trueweave --help`


@dataclass(frozen=True)
class RetrieveOptions:
    """A question and how evidence for it is found. `method` is a name, or a method with its own parameters; `filter`
    selects documents."""

    question: str
    method: str | Method | None = None
    _: KW_ONLY
    filter: Filter | None = None
    rerank: Annotated[bool, Parameter("Rerank more passages with the reranker of the settings.", for_agents=False)] = (
        False
    )
    listener: Listener = ignore


@dataclass(frozen=True, kw_only=True)
class AskOptions(RetrieveOptions):
    """A question and how it is answered. `history` is the conversation so far; `verifiers` check the answer in their
    order, by name ("rules", "llm", "onnx/FOLDER") or as objects; they and `repair` default to the settings. `options`
    sets instructions, language, length and temperature for this answer."""

    history: Sequence[Message] = ()
    use_cot: Annotated[
        bool, Parameter("Let the model reason first; its reasoning is shown separately.", for_agents=False)
    ] = False
    numerical_answer: Annotated[bool, Parameter("Answer with a number and its unit only.", for_agents=False)] = False
    extractive: Annotated[bool, Parameter("Answer only with sentences from the documents.", for_agents=False)] = False
    repair: Annotated[
        bool | None, Parameter("Send unconfirmed sentences to the model once more.", for_agents=False)
    ] = None
    verifiers: Sequence[str | Verifier] | None = None
    options: AnswerOptions | None = None
    context_only: Annotated[bool, Parameter("Show the context for the model without calling it.", for_agents=False)] = (
        False
    )
