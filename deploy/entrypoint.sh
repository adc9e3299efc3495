#!/bin/sh
# Runs `trueweave` with the arguments of the container. `serve` without a database URL gets the bundled PostgreSQL, which is
# started and migrated first, and stopped after the server: a container that ends would kill it.
set -eu

if [ "${1:-}" != serve ] || [ -n "${TRUEWEAVE_DATABASE_URL:-}" ]; then
    exec trueweave "$@"
fi

mkdir -p "$TRUEWEAVE_DATA_DIRECTORY"
exec 9>"$TRUEWEAVE_DATA_DIRECTORY/container.lock"
if ! flock --nonblock 9; then
    echo "error: another container uses this volume. Stop it first, or give each container a volume of its own." >&2
    exit 1
fi
# PostgreSQL refuses to start while the process in this file exists. Process numbers of a container begin anew, so after a
# crash it may be any other process; the lock says that no PostgreSQL runs on these files.
rm -f "$TRUEWEAVE_DATA_DIRECTORY/data/postmaster.pid"
# The lock must end with this script: the database would keep it open.
trueweave db start 9>&-
trueweave migrate 9>&-

trueweave "$@" 9>&- &
server=$!
trap 'kill -TERM "$server"' TERM INT
code=0
wait "$server" || code=$?
trap - TERM INT
# A signal ends `wait` before the server has ended.
if kill -0 "$server" 2>/dev/null; then
    code=0
    wait "$server" || code=$?
fi
trueweave db stop 9>&-
exit "$code"
