"""The server: REST over one database with many workspaces. `trueweave serve` runs it; `app.create_app` makes it.

`middleware` identifies callers and logs, `access` says who may do what, `problems` has the one form of errors,
`workspaces` keeps workspaces open, `metrics` counts, and `routes` has a file for each kind of resource. Only this
package needs the extra `server`.
"""
