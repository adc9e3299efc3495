"""Documents from buckets, by a server on this machine that speaks the protocol of S3."""

import base64
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from dataclasses import replace
from http.client import HTTPConnection
from ipaddress import ip_network
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import boto3
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.certificates import make_certificate
from tests.web_site import Answer, Site, web_site
from trueweave import AsyncTrueweave, Event, Settings
from trueweave.errors import ConfigError, RemovalNotConfirmed, SourceUnavailable, UnreadableFile
from trueweave.events import Skipped, Unreadable
from trueweave.extend import Connector, ConnectorContext, Database, Item
from trueweave.ingest.connectors import objects as objects_module
from trueweave.ingest.connectors import open_connector
from trueweave.ingest.connectors.checked_proxy import CheckedProxy
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
    with pytest.raises(SourceUnavailable, match="private or reserved"):
        await index.sync(f"s3://{objects.name}?endpoint=http://169.254.169.254", secrets=secrets)
    objects.put("../../outside", "Alan Turing wrote it.")
    with pytest.raises(SourceUnavailable, match="invalid path"):
        await index.sync(objects.address, secrets=secrets)


def test_a_bucket_is_signed_with_the_given_credentials_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.setenv(f"AWS_{name}", "ambient")

    def signed(site: Site, secrets: dict[str, str], *, ambient: bool) -> tuple[str, str]:
        context = ConnectorContext(secrets, LOOPBACK, ambient_credentials=ambient)
        with pytest.raises(SourceUnavailable), at(site, context) as connector:
            list(connector.items())
        sent = site.seen_headers.pop()
        signer = sent.get("authorization", "").partition("Credential=")[2].partition("/")[0]
        return signer, sent.get("x-amz-security-token", "")

    with web_site() as site:
        assert signed(site, {}, ambient=True) == ("ambient", "ambient")
        assert signed(site, {}, ambient=False) == ("", "")
        assert signed(site, SECRETS, ambient=False) == signed(site, SECRETS, ambient=True) == ("test", "")
    with pytest.raises(ConfigError, match="both secrets"):
        open_connector("s3://b", ConnectorContext({"access_key_id": "test"}))


SAS = "sv=2026&sig=given"
KEY = base64.b64encode(b"given").decode()


def service_account() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return json.dumps({"client_email": "given@example.org", "private_key": text, "private_key_id": "1"})


@pytest.mark.parametrize(
    ("address", "variables", "secrets", "ambient", "expected"),
    [
        ("gs://b", {"GOOGLE_BEARER_TOKEN": "ambient"}, {}, True, r"Bearer ambient"),
        ("gs://b", {"GOOGLE_BEARER_TOKEN": "ambient"}, {}, False, r""),
        ("gs://b", {}, {"service_account_key": ""}, False, r"Bearer ey.*given"),
        ("az://acme/b", {"AZURE_STORAGE_ACCOUNT_KEY": "YWJj"}, {}, True, r"SharedKey acme:.*"),
        ("az://acme/b", {"AZURE_STORAGE_ACCOUNT_KEY": "YWJj"}, {}, False, r""),
        ("az://acme/b", {"AZURE_STORAGE_SAS_TOKEN": "sig=ambient"}, {}, False, r""),
        ("az://acme/b", {"AZURE_STORAGE_SAS_TOKEN": "sig=ambient"}, {"account_key": KEY}, False, r"SharedKey acme:.*"),
        ("az://acme/b", {"AZURE_STORAGE_ACCOUNT_KEY": "YWJj"}, {"sas_token": SAS}, False, r""),
    ],
)
def test_buckets_of_google_and_azure_are_signed_with_the_given_credentials_alone(
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    variables: dict[str, str],
    secrets: dict[str, str],
    ambient: bool,
    expected: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    given = {name: value or service_account() for name, value in secrets.items()}
    context = ConnectorContext(given, LOOPBACK, ambient_credentials=ambient)
    with closing(open_connector(f"{address}?endpoint={site.url}", context)) as connector:
        with pytest.raises(SourceUnavailable, match="404") as raised:
            list(connector.items())
        assert not any(value in str(raised.value) for value in given.values())
    authorization = site.seen_headers[-1].get("authorization", "")
    if expected.endswith("given"):  # a token with the name of the service account
        claims = authorization.removeprefix("Bearer ").split(".")[1]
        assert json.loads(base64.urlsafe_b64decode(claims + "=="))["iss"] == "given@example.org"
    else:
        assert re.fullmatch(expected, authorization)
    [(path, _)] = site.taken()
    assert ("sig=given" in path) == ("sas_token" in secrets)
    assert "ambient" not in path


def test_objects_of_google_and_azure_are_listed_and_fetched(site: Site, tmp_path: Path) -> None:
    """As their documentation describes the replies; there is no server of theirs here."""
    modified = "Thu, 01 Jan 2026 00:00:00 GMT"
    site.pages = {
        "/b?list-type=2": a_list("a.md"),
        "/b?restype=container&comp=list": Answer(
            b"<EnumerationResults><Blobs><Blob><Name>a.md</Name><Properties>"
            b"<Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Etag>1</Etag>"
            b"<Content-Length>3</Content-Length><Content-Type>text/plain</Content-Type></Properties></Blob></Blobs>"
            b"<NextMarker/></EnumerationResults>"
        ),
        "/b/a.md": Answer(b"Ada", headers={"last-modified": modified}),
        "/b/a%2Emd": Answer(b"Ada", headers={"last-modified": modified}),
    }
    for address in ("gs://b", "az://acme/b"):
        with closing(open_connector(f"{address}?endpoint={site.url}", PUBLIC)) as connector:
            [item] = connector.items()
            assert isinstance(item, Item)
            assert (item.uri, item.version) == (f"{address}/a.md", "1")
            fetched = connector.fetch(item, tmp_path, "")
            assert fetched
            assert fetched.path.read_text() == "Ada"


# --- hostile servers ----------------------------------------------------------------------------------

PUBLIC = ConnectorContext(networks=(ip_network("127.0.0.1/32"),), ambient_credentials=False)
OBJECT = Item("s3://b/a.md", metadata={"path": "a.md"})
LIST = "/b?list-type=2"


def a_list(*keys: str, more: str = "") -> Answer:
    """One page of a list of objects; with `more`, the token for the next one."""
    objects = "".join(
        f"<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>1</ETag>"
        "<Size>3</Size></Contents>"
        for key in keys
    )
    next_ = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{more}</NextContinuationToken>" if more else ""
    return Answer(f"<ListBucketResult>{objects}{next_}</ListBucketResult>".encode())


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as found:
        yield found


def at(site: Site, context: ConnectorContext = PUBLIC) -> closing[Connector]:
    return closing(open_connector(f"s3://b?endpoint={site.url}&region=x", context))


@pytest.mark.parametrize(
    ("scheme", "why"),
    [("https", r"127\.0\.0\.2, which is private or reserved"), ("http", "redirects to another host by HTTP")],
)
def test_a_redirect_leads_to_no_forbidden_address(site: Site, tmp_path: Path, scheme: str, why: str) -> None:
    with web_site("127.0.0.2") as private:
        private.pages = {LIST: a_list("stolen.md"), "/b/a.md": Answer(b"secret")}
        there = private.url.replace("http", scheme)
        site.pages = {path: Answer(status=307, headers={"location": f"{there}{path}"}) for path in private.pages}
        with at(site) as connector:
            with pytest.raises(SourceUnavailable, match=why):
                list(connector.items())
            with pytest.raises(UnreadableFile, match=why):
                connector.fetch(OBJECT, tmp_path, "")
        assert private.connections == 0


def test_a_bucket_is_read_by_https(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path, is_authority=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.chain))
    with web_site(certificate=certificate) as site:
        site.pages = {LIST: a_list("a.md"), "/b/a.md": Answer(b"Ada")}
        with at(site) as connector:
            [item] = connector.items()
            assert isinstance(item, Item)
            for _ in range(3):
                fetched = connector.fetch(item, tmp_path, "")
                assert fetched
                assert fetched.path.read_bytes() == b"Ada"
        assert site.connections < len(site.taken()), "connections are kept"


def test_proxies_of_the_environment_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.pages = {LIST: a_list("a.md")}
    with web_site() as proxy, monkeypatch.context() as environment:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "AWS_PROXY_URL"):
            environment.setenv(name, proxy.url)
        for name in ("no_proxy", "AWS_PROXY_EXCLUDES"):
            environment.setenv(name, "*")
        with at(site) as connector:
            assert [one.uri for one in connector.items() if isinstance(one, Item)] == ["s3://b/a.md"]
        assert proxy.taken() == []


def test_a_name_that_changes_its_address_leads_nowhere_else(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name has an allowed address when the bucket is listed, and a forbidden one afterwards."""
    import socket

    real, addresses = socket.getaddrinfo, ["127.0.0.1", "127.0.0.2"]

    def rebinding(host: str, port: int, *args: object, **more: object) -> object:
        found = addresses.pop(0) if host == "rebinding.example" else host
        return real(found, port, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("socket.getaddrinfo", rebinding)
    site.pages = {LIST: a_list("a.md"), "/b/a.md": Answer(b"Ada")}
    site.url = site.url.replace("127.0.0.1", "rebinding.example")
    with at(site) as connector:
        [item] = connector.items()
        assert isinstance(item, Item)
        with pytest.raises(UnreadableFile, match="private or reserved"):
            connector.fetch(item, tmp_path, "")
    assert site.taken() == [(LIST, 200)]


def test_a_redirect_on_the_same_host_is_followed(site: Site) -> None:
    site.pages = {LIST: Answer(status=307, headers={"location": "/elsewhere"}), "/elsewhere": a_list("a.md")}
    with at(site) as connector:
        assert [one.uri for one in connector.items() if isinstance(one, Item)] == ["s3://b/a.md"]


@pytest.mark.parametrize(
    "options",
    [
        "region=evil.example/",
        "region=x@evil.example",
        "endpoint=http://127.0.0.1:99999999",
        "endpoint=file:///etc/passwd",
        "endpoint=http://",
    ],
)
def test_an_invalid_region_or_endpoint_is_refused(options: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a region|is not an address of HTTP"):
        open_connector(f"s3://b?{options}", PUBLIC)


def test_credentials_of_the_machine_are_for_servers_of_the_provider(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library gets them from a private address, here that of a test's server."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    here = (ip_network("127.0.0.1"),)
    monkeypatch.setattr(objects_module, "_METADATA", here)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", site.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://127.0.0.1:1")
    role = "/latest/meta-data/iam/security-credentials/"
    keys = {"AccessKeyId": "machine", "SecretAccessKey": "x", "Token": "t", "Expiration": "2099-01-01T00:00:00Z"}
    site.pages = {
        "/latest/api/token": Answer(b"token"),
        role: Answer(b"role"),
        f"{role}role": Answer(json.dumps(keys).encode()),
    }
    with closing(open_connector("s3://b", ConnectorContext())) as connector, pytest.raises(SourceUnavailable):
        list(connector.items())
    assert [path for path, _ in site.taken()] == ["/latest/api/token", role, f"{role}role"]
    for address, context, why in (
        (f"s3://b?endpoint={site.url}", ConnectorContext(), "there are no credentials for the endpoint"),
        ("s3://b", ConnectorContext(ambient_credentials=False), "private or reserved"),
        ("s3://b", ConnectorContext(SECRETS), "private or reserved"),
    ):
        with closing(open_connector(address, context)) as connector, pytest.raises(SourceUnavailable, match=why):
            list(connector.items())
        assert site.taken() == []


async def test_no_more_objects_are_listed_than_may_be_read(
    database: Database, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUCKET_KEY", "test")
    secrets = {"access_key_id": "BUCKET_KEY", "secret_access_key": "BUCKET_KEY"}
    address = f"s3://b?endpoint={site.url}&region=x"
    page = a_list(*(f".{n}" for n in range(100)), more="again")  # hidden, so that nothing is fetched
    site.pages = {LIST: page, f"{LIST}&continuation-token=again": page, "/b?continuation-token=again&list-type=2": page}
    settings = Settings.model_validate({"source_max_items": 500, "source_networks": ["127.0.0.1/32"]})
    heard: list[Event] = []
    async with aclosing(await AsyncTrueweave.enter(database, "s3", HashEmbedder(), settings=settings)) as opened:
        await opened.sync(address, secrets=secrets, listener=heard.append)
    assert len([one for one in heard if isinstance(one, Skipped)]) == 500
    [limit] = [one.reason for one in heard if isinstance(one, Unreadable)]
    assert limit.startswith(f"{address} has more than 500 items, and only the first are read.")


def test_a_list_that_never_ends_is_cut_off(site: Site) -> None:
    """The server always has another page, with objects, or without any, which yields nothing to count."""
    page = a_list(*(f"{n}.md" for n in range(100)), more="again")
    site.pages = dict.fromkeys(
        (LIST, "/b?continuation-token=again&list-type=2", f"{LIST}&continuation-token=again"), page
    )
    with at(site) as connector:
        assert len(list(islice(connector.items(), 5000))) == 5000
    site.pages = dict.fromkeys(site.pages, a_list(more="again"))
    with at(site, replace(PUBLIC, seconds=1)) as connector:
        began = time.monotonic()
        with pytest.raises(SourceUnavailable, match="not complete after 1 s"):
            list(connector.items())
        assert time.monotonic() - began < 20
    site.pages[LIST] = Answer(b"<ListBucketResult>" + b" " * 2**26)
    with at(site) as connector, pytest.raises(SourceUnavailable, match="sends more than 33,554,432 bytes"):
        list(connector.items())


def test_an_object_that_never_ends_is_cut_off(site: Site, tmp_path: Path) -> None:
    def drip(write: Callable[[bytes], object]) -> None:
        for _ in range(200):
            write(b"x")
            time.sleep(0.05)

    headers = {"last-modified": "Thu, 01 Jan 2026 00:00:00 GMT", "content-length": str(2**40), "etag": "1"}
    site.pages["/b/a.md"] = Answer(headers=headers, write=drip)
    briefly = replace(PUBLIC, seconds=1)
    with at(site, briefly) as connector, pytest.raises(UnreadableFile, match="not complete after 1 s"):
        connector.fetch(OBJECT, tmp_path, "")
    site.pages["/b/a.md"] = Answer(headers=headers, write=lambda write: write(b"x" * 2**27))
    with at(site) as connector, pytest.raises(UnreadableFile, match="is larger than"):
        connector.fetch(OBJECT, tmp_path, "")


def test_the_proxy_serves_only_those_who_have_its_password(site: Site) -> None:
    proxy = CheckedProxy(LOOPBACK)
    proxy.allow(10_000, 5)
    parts = urlsplit(proxy.url)
    login = base64.b64encode(f"{parts.username}:{parts.password}".encode()).decode()
    site.page("/a", "Ada")

    def status(method: str, target: str, authorization: str) -> int:
        with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=5)) as connection:
            connection.request(method, target, headers={"Proxy-Authorization": authorization})
            return connection.getresponse().status

    there = site.url.removeprefix("http://")
    assert status("GET", f"{site.url}/a", f"Basic {login}") == 200
    for method, target in (("GET", f"{site.url}/a"), ("CONNECT", there)):
        for wrong in ("", "Basic ", f"Basic {login}x", f"Bearer {login}"):
            assert status(method, target, wrong) == 407
    assert status("GET", "http://127.0.0.1:1/", f"Basic {login}") == 502
    assert status("GET", "http://10.0.0.1/", f"Basic {login}") == 403
    assert status("GET", "/a", f"Basic {login}") == 502
    assert site.connections == 1
    proxy.close()
    with pytest.raises(ConnectionError):
        status("GET", f"{site.url}/a", f"Basic {login}")
