"""A clock for tests of patience."""

from trueweave.models.retry import Clock


class FastClock(Clock):
    """Sleeps for no time, and tells how long it would have been."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def jitter(self) -> float:
        return 0.0
