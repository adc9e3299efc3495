"""Runs commands in one process with the core alone: a JSON list of them on stdin, their messages as JSON on stdout.

This is run by the Python of `without_extras`, which has no pytest.
"""

import faulthandler
import json
import os
import sys
from importlib import import_module

from typer.testing import CliRunner

from trueweave.cli import app


def main() -> None:
    said = []
    for case in json.load(sys.stdin):
        faulthandler.dump_traceback_later(60, exit=True)  # one that works in spite of all may run until it is stopped
        os.environ.update(case["variables"])
        if case["words"][0] == "python":
            try:
                import_module(case["words"][2])
                said.append({"code": 0, "text": ""})
            except ModuleNotFoundError as error:
                said.append({"code": 1, "text": str(error)})
        else:
            done = CliRunner().invoke(app, case["words"])
            broken = done.exception if not isinstance(done.exception, SystemExit | None) else None
            said.append({"code": done.exit_code, "text": f"{done.stdout}{done.stderr}{broken!r}"})
        for name in case["variables"]:
            del os.environ[name]
    sys.stdout.write(json.dumps(said))


main()
