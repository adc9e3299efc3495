"""The user that the bundled PostgreSQL runs as: the current user, or a system user if that is root, which PostgreSQL
refuses."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from trueweave.core.errors import EmbeddedServerError

if sys.platform != "win32":
    import pwd

SYSTEM_USER = "trueweave"
# What useradd returns while another process writes the files of users, or of groups, and the seconds to wait for it.
_LOCKED = (1, 10)
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class ServerUser:
    """Runs programs and owns files for the server. Without ids it is the current user."""

    title: str
    uid: int | None = None
    gid: int | None = None

    def own(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def may_use(self, path: Path) -> bool:
        """Whether this user can enter the folder, or run the program, at `path`."""
        return self.run("test", "-x", path).returncode == 0

    def run(self, *command: str | int | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(part) for part in command],
            user=self.uid,
            group=self.gid,
            extra_groups=None if self.uid is None else [],  # otherwise root's groups would be kept
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C"},
            input=stdin,
            text=True,
            capture_output=True,
            check=False,
        )

    def do(self, *command: str | int | Path, stdin: str = "") -> None:
        """Run a command; raise EmbeddedServerError if it fails."""
        done = self.run(*command, stdin=stdin)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise EmbeddedServerError(f"`{shlex.join(map(str, command))}` failed as {self.title}:\n{said}")


def server_user() -> ServerUser:
    """The user to run the server as. If we are root, this is the system user, created if necessary."""
    if os.geteuid() != 0:
        return ServerUser("this user")
    entry = _find() or _add()
    return ServerUser(f"the system user {SYSTEM_USER!r}", entry.pw_uid, entry.pw_gid)


def _find() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        return None


def _add() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            added = subprocess.run(command, text=True, capture_output=True, check=False)
            code, problem = added.returncode, added.stderr.strip()
        except FileNotFoundError:
            code, problem = None, "there is no `useradd` here"
        # Look it up even if useradd failed: another process may have added the user at the same time.
        if entry := _find():
            return entry
        if code not in _LOCKED or time.monotonic() > deadline:
            raise EmbeddedServerError(
                f"PostgreSQL refuses to run as root, and a system user for it could not be added: {problem}. "
                f"Add one named {SYSTEM_USER!r}, run Trueweave as an ordinary user, or set a database URL."
            )
        time.sleep(0.1)
