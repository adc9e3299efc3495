"""Faults between Trueweave and a model, by name, and when they occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from random import Random


class Fault(Enum):
    """One way for a call to go wrong. The value is its name on the command line."""

    # The server says no.
    RATE_LIMIT = "rate-limit"
    RATE_LIMIT_SECONDS = "rate-limit-seconds"  # with Retry-After in seconds
    RATE_LIMIT_DATE = "rate-limit-date"  # with Retry-After as a date
    NO_CREDIT = "no-credit"
    BROKEN = "broken"  # 500
    OVERLOADED = "overloaded"  # 503
    BAD_KEY = "bad-key"
    NO_MODEL = "no-model"
    TOO_LONG = "too-long"
    OTHER_DIALECT = "other-dialect"  # refuses temperature and max_tokens
    ERROR_IN_200 = "error-in-200"  # as some gateways do
    REDIRECT = "redirect"  # to another host
    HUGE_ERROR = "huge-error"  # status 400, and an endless body
    # A small body that unpacks to a gigabyte, as a reply and as an error.
    BOMB = "bomb"
    ERROR_BOMB = "error-bomb"
    # The connection breaks, or drags on.
    DROP_FIRST = "drop-first"  # before any byte is sent
    DROP_MIDDLE = "drop-middle"  # in the middle of the body; of a stream, after its first piece
    SLOW = "slow"  # byte by byte
    ENDLESS = "endless"
    PACKED = "packed"  # with gzip, which is not a fault of the server
    # The stream is missing, or fails on the way.
    NOT_STREAMED = "not-streamed"  # the reply is sent whole
    UNFINISHED = "unfinished"  # it ends before the reply does
    ERROR_MIDDLE = "error-middle"  # an error follows its first piece
    # The reply is not what it should be.
    NOT_JSON = "not-json"  # the body
    NO_CHOICES = "no-choices"
    NO_USAGE = "no-usage"
    MISCOUNTED = "miscounted"  # as if most of the prompt had not been seen
    FILTERED = "filtered"
    DECLINED = "declined"
    CUT = "cut"  # half of the text, finish_reason "length"
    # The text is not what it should be, and the server does not know.
    TRUNCATED = "truncated"  # half of the text, finish_reason "stop"
    PROSE = "prose"
    FENCES = "fences"
    WRONG_SCHEMA = "wrong-schema"
    EMPTY = "empty"  # the smallest reply that keeps to the schema
    # The vectors, or the scores, are not what they should be.
    FEWER_VECTORS = "fewer-vectors"
    OTHER_DIMENSION = "other-dimension"
    SHUFFLED = "shuffled"  # but with the right index, which is not a fault of the server


@dataclass(frozen=True)
class Trouble:
    """Which calls go wrong: those with a number in `at`, counted from 0, and a share of the others for each fault.

    Chance depends only on the seed and on the call's number.
    """

    at: Mapping[int, Fault] = field(default_factory=dict)
    share: Mapping[Fault, float] = field(default_factory=dict)
    seed: int = 0
    retry_after: float = 1.0  # seconds
    pause: float = 0.05  # seconds between the bytes of a slow reply

    @classmethod
    def always(cls, fault: Fault, *, retry_after: float = 1.0) -> Trouble:
        """Every call goes wrong in this way."""
        return cls(share={fault: 1.0}, retry_after=retry_after)

    def of(self, number: int) -> Fault | None:
        """The fault of the call with that number, if any."""
        if number in self.at:
            return self.at[number]
        drawn = Random(f"{self.seed} {number}").random()
        for fault, share in self.share.items():
            drawn -= share
            if drawn < 0:
                return fault
        return None
