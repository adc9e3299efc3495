"""The server: REST over one database with many workspaces. `trueweave serve` runs it; `app.create_app` creates it.

`middleware` identifies callers and logs requests, `access` checks scopes, `problems` defines the form of all errors,
`workspaces` keeps workspaces open, `metrics` counts, and `routes` has a file for each kind of resource. Only this
package needs the extra `server`.
"""
