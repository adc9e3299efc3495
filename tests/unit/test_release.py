"""What a release needs: one version, and notes for it."""

import json
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
RELEASES = ROOT / "tests" / "data" / "releases"
MIGRATIONS = ROOT / "src" / "trueweave" / "store" / "postgres" / "schema" / "migrations"
notes = runpy.run_path(str(ROOT / "tools" / "release_notes.py"))["notes"]
section = runpy.run_path(str(ROOT / "tools" / "release_notes.py"))["section"]
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


def test_the_section_of_a_version_is_empty_where_there_is_none() -> None:
    assert [section(CHANGELOG, version) for version in ("Unreleased", "0.3.0")] == ["", ""]


@pytest.mark.skipif("dev" in VERSION, reason="a development version has unreleased changes")
def test_a_tag_at_this_commit_would_release_what_the_changelog_and_the_dump_say() -> None:
    """Whoever changes something before the tag adds it to the section of the version, and writes the dump again."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert notes(changelog, VERSION)
    assert not section(changelog, "Unreleased")
    released = {tuple(map(int, file.stem.split("."))): file for file in RELEASES.glob("*.json")}
    newest = released[max(released)]
    assert newest.stem == VERSION
    found = json.loads(newest.read_text("utf-8"))["migrations"]
    assert sorted(found) == sorted(file.stem for file in MIGRATIONS.glob("*.sql"))


def test_the_chart_runs_the_version() -> None:
    chart = yaml.safe_load((ROOT / "deploy" / "chart" / "Chart.yaml").read_text("utf-8"))
    assert chart["appVersion"] == VERSION


def test_workflows_call_workflows_and_tools_that_are_there() -> None:
    workflows = {file.name: yaml.safe_load(file.read_text("utf-8")) for file in (ROOT / ".github/workflows").iterdir()}
    called = [job["uses"] for flow in workflows.values() for job in flow["jobs"].values() if "uses" in job]
    assert called == ["./.github/workflows/wheel.yml"] * 2
    assert "workflow_call" in workflows["wheel.yml"][True]  # YAML reads `on` as true
