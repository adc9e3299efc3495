"""The Helm chart: rendered by Helm, valid for Kubernetes, and naming what there is: commands, settings, metrics."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml  # type: ignore[import-untyped]

from trueweave import Settings
from trueweave.cli import app
from trueweave.core.settings import PREFIX
from trueweave.server.app import create_app

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "chart"
TOOLS = ROOT / ".chart"
HELM = TOOLS / "bin" / "helm"
OLDEST, NEWEST = "1.25", "1.37"  # versions of Kubernetes; Chart.yaml names the oldest
OTHERS = {"ScaledObject", "ServiceMonitor"}  # of KEDA and of Prometheus's operator: Kubernetes has no schema of them

EVERYTHING = {
    "database": {"directUrlKey": "direct-url", "standbyUrlsKey": "standby-urls"},
    "settings": {"model": "openai/gpt-4o-mini", "jobs_at_once": 8, "models": {"answer": "anthropic/any"}},
    "secrets": ["provider-keys"],
    "env": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
    "imagePullSecrets": [{"name": "registry"}],
    "server": {"autoscaling": {"enabled": False}, "nodeSelector": {"disk": "fast"}, "affinity": {"podAffinity": {}}},
    "worker": {"autoscaling": {"enabled": True}, "tolerations": [{"key": "spot", "operator": "Exists"}]},
    "models": {"existingClaim": "models"},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a": "b"}},
    "metrics": {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
    "networkPolicy": {
        "enabled": True,
        "server": [{"namespaceSelector": {}}],
        "metrics": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}],
    },
}
LESS = {
    "migration": {"enabled": False},
    "server": {"podDisruptionBudget": {"enabled": False}},
    "worker": {"podDisruptionBudget": {"enabled": False}},
    "networkPolicy": {"enabled": True},
}

pytestmark = pytest.mark.skipif(not HELM.exists(), reason="Helm is not there; run `make chart-tools`")


@cache
def rendered(values: str = "{}") -> list[dict[str, Any]]:
    """What Helm makes of the chart with these values."""
    command = [str(HELM), "template", "rel", str(CHART), "--namespace", "prod", "--values", "-"]
    done = subprocess.run(command, input=values, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def of_kind(kind: str, made: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The objects of a kind, by name."""
    return {one["metadata"]["name"]: one for one in made if one["kind"] == kind}


def pods(made: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The pods that are to run, by name."""
    whole = {**of_kind("Deployment", made), **of_kind("Job", made)}
    return {name: one["spec"]["template"]["spec"] for name, one in whole.items()}


ALL = [json.dumps(values) for values in ({}, EVERYTHING, LESS)]


def test_helm_finds_nothing_wrong_with_it() -> None:
    done = subprocess.run([str(HELM), "lint", "--strict", str(CHART)], capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("values", ALL)
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_what_it_makes_is_valid_for_kubernetes(values: str, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import kubernetes_validate  # type: ignore[import-not-found]

    made = rendered(values)
    for one in made:
        if one["kind"] not in OTHERS:
            kubernetes_validate.validate(one, version, strict=True)
    names = [(one["kind"], one["metadata"]["name"]) for one in made]
    assert len(set(names)) == len(names)
    sys.modules.pop("kubernetes_validate")


def test_each_part_is_made_when_it_is_wanted() -> None:
    usual, everything, less = map(rendered, ALL)
    kinds = {one["kind"] for one in everything}
    assert {"Job", "Ingress", "NetworkPolicy", *OTHERS} <= kinds
    assert "HorizontalPodAutoscaler" not in kinds
    assert of_kind("HorizontalPodAutoscaler", usual)["rel-trueweave-server"]
    assert "replicas" not in of_kind("Deployment", usual)["rel-trueweave-server"]["spec"], "it would undo the scaling"
    assert "replicas" not in of_kind("Deployment", everything)["rel-trueweave-worker"]["spec"]
    assert not {"Job", "PodDisruptionBudget"} & {one["kind"] for one in less}
    hooks = of_kind("Job", usual)["rel-trueweave-migrate"]["metadata"]["annotations"]
    assert hooks["helm.sh/hook"] == "pre-install,pre-upgrade"


@pytest.mark.parametrize("values", ALL)
def test_nothing_has_privileges_or_writes_to_its_root(values: str) -> None:
    for name, pod in pods(rendered(values)).items():
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False
        [container] = pod["containers"]
        allowed = container["securityContext"]
        assert allowed["readOnlyRootFilesystem"], name
        assert allowed["allowPrivilegeEscalation"] is False, name
        assert allowed["capabilities"] == {"drop": ["ALL"]}, name
        assert container["resources"]["limits"]["memory"], name
        assert "/tmp" in [one["mountPath"] for one in container["volumeMounts"]], name


@pytest.mark.parametrize("values", ALL)
def test_commands_variables_and_probes_are_those_that_there_are(values: str) -> None:
    served = {*create_app(Settings(database_url="postgresql://nobody@127.0.0.1/none")).openapi()["paths"]}
    for pod in pods(rendered(values)).values():
        [container] = pod["containers"]
        command = typer.main.get_command(app)
        context = command.make_context("trueweave", list(container["args"]))
        name, sub, rest = command.resolve_command(context, list(container["args"]))  # type: ignore[attr-defined]
        sub.make_context(name, rest, parent=context)
        named = {one["name"]: one.get("value") for one in container["env"]}
        assert len(named) == len(container["env"])
        settings = {one.removeprefix(PREFIX).lower(): value for one, value in named.items() if one.startswith(PREFIX)}
        assert settings.keys() <= Settings.model_fields.keys()
        given = {one: value for one, value in settings.items() if value is not None}
        _read({f"{PREFIX}{one.upper()}": value for one, value in given.items()})
        ports = {one["name"]: one["containerPort"] for one in container.get("ports", ())}
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe := container.get(kind, {}).get("httpGet"):
                assert probe["port"] in ports
                assert probe["path"] in served if probe["port"] == "http" else probe["path"] == "/healthz"
        assert ports.get("metrics", 9464) == int(settings["metrics_port"])


def _read(variables: dict[str, str]) -> None:
    """See that settings can be read from these variables."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        Settings.load(database_url="postgresql://nobody@127.0.0.1/none")


def test_settings_secrets_and_variables_reach_server_and_worker() -> None:
    for name in ("rel-trueweave-server", "rel-trueweave-worker"):
        [container] = pods(rendered(ALL[1]))[name]["containers"]
        told = {one["name"]: one.get("value") for one in container["env"]}
        assert told["TRUEWEAVE_MODEL"] == "openai/gpt-4o-mini"
        assert json.loads(str(told["TRUEWEAVE_MODELS"])) == {"answer": "anthropic/any"}
        assert told["TRUEWEAVE_JOBS_AT_ONCE"] == "8"
        assert told["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://collector:4318"
        assert container["envFrom"] == [{"secretRef": {"name": "provider-keys"}}]
        assert "TRUEWEAVE_OWNER_DATABASE_URL" not in told, "the owner is for the migration alone"


def test_a_pod_has_longer_to_end_than_the_server_takes() -> None:
    pod = pods(rendered())["rel-trueweave-server"]
    told = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
    takes = int(told["TRUEWEAVE_DRAIN_SECONDS"]) + int(told["TRUEWEAVE_SHUTDOWN_SECONDS"])
    assert pod["terminationGracePeriodSeconds"] > takes


def test_workers_are_scaled_by_a_metric_that_there_is() -> None:
    [trigger] = of_kind("ScaledObject", rendered(ALL[1]))["rel-trueweave-worker"]["spec"]["triggers"]
    assert trigger["type"] == "prometheus"
    found = re.fullmatch(r'max\((\w+)\{kind="document", namespace="prod"\}\)', trigger["metadata"]["query"])
    assert found
    assert f"`{found.group(1)}`" in (ROOT / "docs" / "how-to" / "operations.md").read_text(encoding="utf-8")
    assert f'"{found.group(1)}"' in (ROOT / "src/trueweave/server/metrics.py").read_text(encoding="utf-8")
