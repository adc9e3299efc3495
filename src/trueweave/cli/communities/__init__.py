"""`trueweave communities`: communities of the graph, and their reports."""

import typer

from trueweave.cli.communities import build, changes, overview, show, tree

app = typer.Typer(invoke_without_command=True)
app.callback()(overview.overview)
app.command()(build.build)
app.command()(tree.tree)
app.command()(show.show)
app.command()(changes.changes)
