"""Errors of models on servers, classified by what can be done about them.

Temporary errors are ModelUnavailable; wrong keys, names and settings are ModelRefused; and replies that are unusable
for one prompt only are UselessReply. All providers share the same messages.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from trueweave.core.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from trueweave.models.names import Endpoint

_PASSING = frozenset({408, 409, 424, 425, 429})
_GATEWAY = frozenset({502, 504})  # a proxy answers for the server, which may have done its work
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})
_NO_CREDIT_SAID = re.compile(r"credit balance is too low", re.IGNORECASE)
_ABOUT_THE_PROMPT = re.compile(
    r"context.?(length|size|window)|maximum context|too many tokens|too.(long|large)|input length|above_max_length"
    r"|content.?(filter|policy)|responsible ?ai",
    re.IGNORECASE,
)
# Statuses of errors inside a response of status 200, by Anthropic's names for them.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_SHOWN = 300  # characters of the server's message


class UselessReply(BadReply):
    """The server answered, but the answer is unusable. `charged`: it may have cost something."""

    again = True

    def __init__(self, message: str, *, charged: bool) -> None:
        super().__init__(message)
        self.charged = charged


class Unsupported(ModelRefused):
    """The server does not accept `parameter` for this model."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class CutPrompt(ModelRefused):
    """The server answered without having read the whole prompt, and may have charged for that."""

    charged = True


@dataclass(frozen=True, slots=True)
class Failures:
    """The errors of one endpoint, with a deadline of `deadline` seconds.

    `in_words` has parameters, in lower case and without underscores, whose rejection can only be recognised by the
    words of the server's message.
    """

    endpoint: Endpoint
    deadline: float
    in_words: tuple[str, ...] = ()

    def late(self) -> ModelUnavailable:
        """The server did not answer within the deadline."""
        return ModelUnavailable(
            f"{self.endpoint} did not answer in full within {self.deadline:g} s. "
            "Is it too slow or too busy? Raise the deadline, or ask it less at a time.",
            charged=True,
        )

    def redirected(self, to: str) -> ModelRefused:
        """The server redirects to another address, which was not followed."""
        return ModelRefused(
            f"{self.endpoint} redirects to {to}, and nothing was sent there: prompts go to the host that is "
            "set, and to no other. If that is where the model is, set its URL."
        )

    def unreached(self, reason: str) -> ModelUnavailable:
        """The server could not be reached."""
        return ModelUnavailable(
            f"cannot reach {self.endpoint}: {reason}. Is it running, and the URL right?", unreachable=True
        )

    def broken_off(self, reason: str) -> ModelUnavailable:
        """The connection ended before the reply did."""
        return ModelUnavailable(f"{self.endpoint} broke the connection off: {reason}.", charged=True)

    def endless(self, most_bytes: int) -> UselessReply:
        """The server sent more than a reply can have."""
        return UselessReply(
            f"{self.endpoint} did not stop: it sent more than {most_bytes:,} bytes, however short the "
            "reply was to be. Trueweave stopped reading. Does the server honour max_tokens?",
            charged=True,
        )

    def in_reply(self, error: object) -> ModelError:
        """An error that arrived with status 200, as in a stream, or from gateways that pass on the errors of others."""
        details = error if isinstance(error, dict) else {}
        code = details.get("code")
        usual = _STATUSES.get(str(details.get("type")), 502)
        return self.refused(code if isinstance(code, int) and code >= 400 else usual, error, {})

    def refused(self, status: int, body: object, headers: Mapping[str, str]) -> ModelError:
        """An error status. The body is the server's explanation, or an object that has it under `error`."""
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            body = body["error"]
        details = body if isinstance(body, dict) else {}
        said = f"{status}, {self._said(body)}"
        kinds = {str(details.get(key) or "") for key in ("code", "type")}
        if status in (400, 413, 422, 500) and _ABOUT_THE_PROMPT.search(f"{kinds} {said}"):
            return UselessReply(
                f"{self.endpoint} does not take this prompt: {said}. If it is too long, make chunks smaller, or use a "
                "model that takes more.",
                charged=False,
            )
        if status == 402 or kinds & _NO_CREDIT or _NO_CREDIT_SAID.search(said):
            return ModelRefused(f"{self.endpoint} refuses unpaid calls: {said}. Add credit to the key's account.")
        if status in _PASSING or status >= 500:
            wait = asked_wait(headers, time.time())
            return ModelUnavailable(f"{self.endpoint} answered {said}.", charged=status in _GATEWAY, retry_after=wait)
        if status == 400 and (parameter := self._parameter(details, kinds, said)):
            return Unsupported(f"{self.endpoint} takes no {parameter}: {said}. Choose another model.", parameter)
        return ModelRefused(f"{self.endpoint} refuses: {said}. {self._advice(status)}")

    def _parameter(self, details: Mapping[str, object], kinds: set[str], said: str) -> str:
        """The parameter that the model does not accept; empty if the refusal is about something else."""
        parameter = str(details.get("param") or "")
        if parameter and any(kind.startswith("unsupported_") for kind in kinds):
            return parameter
        words = said.lower().replace("_", "")
        return next((name for name in self.in_words if name in words), "")

    def _advice(self, status: int) -> str:
        name = self.endpoint.provider.name
        if status in (401, 403) and name == "bedrock":
            return "Check the AWS credentials, their right bedrock:InvokeModel, and the account's access to this model."
        if status in (401, 403):
            variable = self.endpoint.provider.key_variable
            wants = f"Set {variable} to a key" if variable else "Give it a key"
            return f"{wants} that is valid and may use this model."
        if status == 404 and name == "ollama":
            return f"Run `ollama pull {self.endpoint.model}`, or check the model's name."
        if status == 404 and name == "azure":
            return "Azure wants the name of a deployment in place of a model's: check it, and the URL of the resource."
        if status == 404 and name == "bedrock":
            return "Check the model's id, or that of its inference profile, and the AWS region."
        if status == 404:
            is_usual = self.endpoint.url.endswith("/v1")
            return f"Check the model's name{'' if is_usual else ', and the URL: most end in /v1'}."
        return "Check the model's name and settings; `trueweave doctor` tries them one by one."

    def _said(self, body: object) -> str:
        said = body.get("message", body) if isinstance(body, dict) else body
        text = " ".join(str(said or "with no explanation").split())
        if self.endpoint.key:
            text = text.replace(self.endpoint.key, "(the key)")
        return text[:_SHOWN].rstrip(".")


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds the server asks to wait; None if it does not.

    `Retry-After` is in seconds or a date. `now` is in seconds since 1970.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None
