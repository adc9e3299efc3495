"""A real IMAP server, Dovecot, on 127.0.0.1 with TLS: any user with the password `secret` has a mailbox."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from imaplib import IMAP4_SSL
from pathlib import Path

import pytest

from tests.certificates import make_certificate

_CONFIG = """
base_dir = {run}
state_dir = {run}
log_path = {folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <{chain}
ssl_key = <{key}
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {login}
first_valid_uid = 0
mail_location = maildir:{mail}/%u
mail_fsync = never
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={mail}/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
  }}
}}
service anvil {{
  chroot =
}}
"""


class Dovecot:
    """The server. It can be stopped and started again with the same mails, until it is closed."""

    def __init__(self) -> None:
        self._binary = shutil.which("dovecot", path=f"{os.environ['PATH']}:/usr/sbin")
        if not self._binary:
            pytest.skip("Dovecot is not installed: apt-get install dovecot-imapd")
        # Not in a folder of pytest: its server runs as another user, who cannot enter those.
        self._folder = tempfile.TemporaryDirectory(prefix="dovecot-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        folder.chmod(0o711)
        self.certificate = make_certificate(folder)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        is_root = os.getuid() == 0
        user, group, login = ("nobody", "nogroup", "daemon") if is_root else (getpass.getuser(),) * 3
        mail, run = folder / "mail", folder / "run"
        for one in (mail, run):
            one.mkdir()
        mail.chmod(0o777)
        self._config = folder / "dovecot.conf"
        self._config.write_text(
            _CONFIG.format(
                folder=folder,
                run=run,
                mail=mail,
                port=self.port,
                user=user,
                group=group,
                login=login,
                chain=self.certificate.chain,
                key=self.certificate.key,
            )
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert self._binary
        self._process = subprocess.Popen([self._binary, "-F", "-c", self._config])
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self._process.poll() is None, (self._config.parent / "dovecot.log").read_text()
            try:
                self.client("nobody-yet").logout()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise TimeoutError((self._config.parent / "dovecot.log").read_text())

    def stop(self) -> None:
        """Stop it, and break all connections."""
        if self._process:
            self._process.terminate()
            self._process.wait(30)
            self._process = None

    def close(self) -> None:
        """Stop it, and delete all mails."""
        self.stop()
        self._folder.cleanup()

    def client(self, user: str) -> IMAP4_SSL:
        """A connection of a user."""
        trusted = ssl.create_default_context(cafile=str(self.certificate.chain))
        client = IMAP4_SSL("127.0.0.1", self.port, ssl_context=trusted, timeout=60)
        client.login(user, "secret")
        return client
