"""Documents from buckets, by a server on this machine that speaks the protocol of S3."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from ipaddress import ip_network
from uuid import uuid4

import boto3
import pytest

from tests.web_site import Site, web_site
from trueweave import AsyncTrueweave, Event, Settings
from trueweave.errors import ConfigError, RemovalNotConfirmed, SourceUnavailable
from trueweave.events import Skipped
from trueweave.extend import Connector, ConnectorContext, Database
from trueweave.ingest.connectors import open_connector
from trueweave.testing import HashEmbedder
from trueweave.testing.connectors import ConnectorContract, RemoteTexts

LOOPBACK = (ip_network("127.0.0.0/8"),)
SECRETS = {"access_key_id": "test", "secret_access_key": "test"}


class Objects:
    """Objects in a bucket of its own."""

    def __init__(self, endpoint: str) -> None:
        self.name = f"bucket-{uuid4().hex[:12]}"
        self.address = f"s3://{self.name}/notes?endpoint={endpoint}&region=us-east-1"
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self._client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)
        self._client.create_bucket(Bucket=self.name)

    def put(self, name: str, text: str) -> None:
        self._client.put_object(Bucket=self.name, Key=f"notes/{name}.md", Body=text.encode())

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket=self.name, Key=f"notes/{name}.md")

    def open(self) -> Connector:
        return open_connector(self.address, ConnectorContext(SECRETS, LOOPBACK))


@pytest.fixture
def objects(s3_endpoint: str) -> Objects:
    return Objects(s3_endpoint)


class TestBucket(ConnectorContract):
    @pytest.fixture
    def remote(self, s3_endpoint: str) -> RemoteTexts:
        return Objects(s3_endpoint)


@pytest.fixture
async def index(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncTrueweave]:
    monkeypatch.setenv("BUCKET_KEY", "test")
    settings = Settings.model_validate(
        {"extractor": "capitals", "source_max_bytes": 2000, "source_networks": ["127.0.0.0/8"]}
    )
    async with aclosing(await AsyncTrueweave.enter(database, "s3", HashEmbedder(), settings=settings)) as opened:
        yield opened


async def test_the_index_follows_a_bucket(index: AsyncTrueweave, objects: Objects) -> None:
    secrets = {"access_key_id": "BUCKET_KEY", "secret_access_key": "BUCKET_KEY"}
    for n in range(6):
        objects.put(str(n), f"Ada Lovelace wrote note {n}.")
    objects.put("large", "x" * 3000)
    heard: list[Event] = []
    assert (await index.sync(objects.address, secrets=secrets, listener=heard.append)).new == 6
    assert [one.reason for one in heard if isinstance(one, Skipped)] == ["larger than 2,000 bytes"]
    again = await index.sync(objects.address, secrets=secrets)
    assert (again.new, again.unchanged) == (0, 6)
    objects.put("3", "Grace Hopper wrote note 3.")
    objects.delete("5")
    changed = await index.sync(objects.address, secrets=secrets)
    assert (changed.new, changed.unchanged, changed.removed) == (1, 4, 1)
    for n in range(3):
        objects.delete(str(n))
    with pytest.raises(RemovalNotConfirmed, match="3 of the 5"):
        await index.sync(objects.address, secrets=secrets)


async def test_a_bucket_that_cannot_be_read_is_reported(index: AsyncTrueweave, objects: Objects) -> None:
    secrets = {"access_key_id": "BUCKET_KEY", "secret_access_key": "BUCKET_KEY"}
    with pytest.raises(SourceUnavailable, match="cannot be listed"):
        await index.sync(objects.address.replace(objects.name, "nowhere-at-all"), secrets=secrets)
    with pytest.raises(ConfigError, match="unknown option 'place'"):
        await index.sync(f"{objects.address}&place=here", secrets=secrets)
    with pytest.raises(ConfigError, match="private or reserved"):
        await index.sync(f"s3://{objects.name}?endpoint=http://169.254.169.254", secrets=secrets)
    objects.put("../../outside", "Alan Turing wrote it.")
    with pytest.raises(SourceUnavailable, match="invalid path"):
        await index.sync(objects.address, secrets=secrets)


def test_a_bucket_is_signed_with_the_given_credentials_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.setenv(f"AWS_{name}", "ambient")

    def signed(site: Site, secrets: dict[str, str], *, ambient: bool) -> tuple[str, str]:
        context = ConnectorContext(secrets, LOOPBACK, ambient_credentials=ambient)
        with pytest.raises(SourceUnavailable):
            list(open_connector(f"s3://b?endpoint={site.url}&region=x", context).items())
        sent = site.seen_headers.pop()
        signer = sent.get("authorization", "").partition("Credential=")[2].partition("/")[0]
        return signer, sent.get("x-amz-security-token", "")

    with web_site() as site:
        assert signed(site, {}, ambient=True) == ("ambient", "ambient")
        assert signed(site, {}, ambient=False) == ("", "")
        assert signed(site, SECRETS, ambient=False) == signed(site, SECRETS, ambient=True) == ("test", "")
    with pytest.raises(ConfigError, match="both secrets"):
        open_connector("s3://b", ConnectorContext({"access_key_id": "test"}))
