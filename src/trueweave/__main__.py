"""`python -m trueweave` is `trueweave`."""

from trueweave.cli import app

app()
