"""What a release needs: one version, and notes for it."""

import runpy
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
notes = runpy.run_path(str(ROOT / "tools" / "release_notes.py"))["notes"]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
CHANGELOG = """# Changelog

## [Unreleased]

## [0.2.0] - 2027-01-01
- Second.

## [0.1.0] - 2026-11-18

### Start
- First.
"""


def test_notes_are_the_section_of_the_version() -> None:
    assert notes(CHANGELOG, "0.2.0") == "- Second."
    assert notes(CHANGELOG, "0.1.0") == "### Start\n- First."


@pytest.mark.parametrize("version", ["0.1", "0.3.0", "Unreleased"])
def test_a_release_without_notes_is_refused(version: str) -> None:
    with pytest.raises(SystemExit, match="no section"):
        notes(CHANGELOG, version)


def test_the_changelog_has_the_version_and_the_chart_runs_it() -> None:
    assert notes((ROOT / "CHANGELOG.md").read_text("utf-8"), VERSION)
    chart = yaml.safe_load((ROOT / "deploy" / "chart" / "Chart.yaml").read_text("utf-8"))
    assert chart["appVersion"] == VERSION


def test_workflows_call_workflows_and_tools_that_are_there() -> None:
    workflows = {file.name: yaml.safe_load(file.read_text("utf-8")) for file in (ROOT / ".github/workflows").iterdir()}
    called = [job["uses"] for flow in workflows.values() for job in flow["jobs"].values() if "uses" in job]
    assert called == ["./.github/workflows/wheel.yml"] * 2
    assert "workflow_call" in workflows["wheel.yml"][True]  # YAML reads `on` as true
