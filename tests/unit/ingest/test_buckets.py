"""Addresses and secrets of buckets. Nothing is requested here; what a server gets is in tests/integration."""

import json
from contextlib import closing

import pytest

from trueweave.errors import ConfigError
from trueweave.extend import ConnectorContext
from trueweave.ingest.connectors import open_connector
from trueweave.ingest.connectors.objects import Bucket

KEY = {"account_key": "a2V5"}
SERVICE_ACCOUNT = json.dumps({"client_email": "a@b", "private_key": "x", "private_key_id": "1"})


@pytest.mark.parametrize(
    ("address", "secrets", "bucket", "prefix"),
    [
        ("s3://b", {}, "s3://b", ""),
        ("s3://b/a%20b/c/?region=eu-west-1", {}, "s3://b", "a b/c"),
        ("gs://b/notes", {}, "gs://b", "notes"),
        ("gs://b.example.org?endpoint=https://storage.example", {}, "gs://b.example.org", ""),
        ("az://acme/notes", KEY, "az://acme/notes", ""),
        ("az://acme/notes/2026/a%20b/", {"sas_token": "?sv=1&sig=x"}, "az://acme/notes", "2026/a b"),
        ("az://acme/$web?endpoint=https://blob.example/acme", KEY, "az://acme/$web", ""),
    ],
)
def test_an_address_names_a_bucket_and_a_prefix(
    address: str, secrets: dict[str, str], bucket: str, prefix: str
) -> None:
    with closing(open_connector(address, ConnectorContext(secrets, ambient_credentials=False))) as connector:
        assert isinstance(connector, Bucket)
        assert (connector._bucket, connector._prefix) == (bucket, prefix)


@pytest.mark.parametrize(
    ("address", "secrets", "why"),
    [
        ("s3:///notes", {}, "has no name of a bucket"),
        ("gs:///notes", {}, "has no name of a bucket"),
        ("az://acme", {}, "Write az://ACCOUNT/CONTAINER/PREFIX"),
        ("az://acme/", {}, "Write az://ACCOUNT/CONTAINER/PREFIX"),
        ("az://evil.example/notes", {}, "Write az://ACCOUNT/CONTAINER/PREFIX"),
        ("az://acme@evil/notes", {}, "Write az://ACCOUNT/CONTAINER/PREFIX"),
        ("az://acme/..%2fother", {}, "Write az://ACCOUNT/CONTAINER/PREFIX"),
        ("gs://b?region=x", {}, "unknown option 'region'. Options of gs://: endpoint"),
        ("az://acme/notes?account=x", {}, "unknown option 'account'. Options of az://: endpoint"),
        ("gs://b?endpoint=ftp://x", {}, "is not an address of HTTP"),
        ("az://acme/notes?endpoint=http://[::1", {}, "is not an address of HTTP"),
        ("gs://b", {"account_key": "x"}, "It takes service_account_key"),
        ("az://acme/notes", {"access_key_id": "x"}, "It takes account_key, sas_token"),
        ("s3://b", {"secret_access_key": "x"}, "takes both secrets"),
        ("az://acme/notes", {**KEY, "sas_token": "x"}, "one of the secrets account_key and sas_token"),
        ("gs://b", {"service_account_key": "/srv/key.json"}, "the content of its JSON file"),
        ("gs://b", {"service_account_key": '"client_email"'}, "the content of its JSON file"),
    ],
)
def test_an_invalid_address_or_secret_is_refused(address: str, secrets: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        open_connector(address, ConnectorContext(secrets))


def test_a_token_of_the_environment_is_not_used_in_place_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_bearer_TOKEN", "ambient")
    with pytest.raises(ConfigError, match="GOOGLE_BEARER_TOKEN is set"):
        open_connector("gs://b", ConnectorContext({"service_account_key": SERVICE_ACCOUNT}))
