"""The system user for the bundled PostgreSQL, while another process adds users."""

import os
import pwd
from pathlib import Path

import pytest

from trueweave.errors import EmbeddedServerError
from trueweave.store import server_user

# Fails as useradd does while another process has the files of users.
USERADD = """#!/bin/sh
cd "$(dirname "$0")"
echo asked >> asked
if [ "$(wc -l < asked)" -gt "$(cat busy)" ]; then touch added; exit 0; fi
echo "useradd: cannot lock /etc/passwd; try again later." >&2
exit 1
"""


@pytest.fixture
def useradd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a useradd that fails as often as its file `busy` says."""
    (tmp_path / "useradd").write_text(USERADD)
    (tmp_path / "useradd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    someone = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(server_user, "_find", lambda: someone if (tmp_path / "added").exists() else None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def test_a_user_is_added_when_another_process_has_finished_adding_one(useradd: Path) -> None:
    (useradd / "busy").write_text("2")
    assert server_user.server_user().uid == os.getuid()
    assert (useradd / "asked").read_text().split() == ["asked"] * 3


def test_a_file_of_users_that_stays_locked_is_an_error(useradd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (useradd / "busy").write_text("1000")
    monkeypatch.setattr(server_user, "_PATIENCE", 0.2)
    with pytest.raises(EmbeddedServerError, match="cannot lock /etc/passwd"):
        server_user.server_user()
