"""Shards of a bulk load from S3, by a server on this machine that speaks its protocol."""

import json
from pathlib import Path

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trueweave import Source
from trueweave.bulk import shards
from trueweave.errors import ConfigError
from trueweave.ingest.loading import Files
from trueweave.text.uris import Naming


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The address of a folder with a file of lines, one of Parquet and a page."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.client("s3", endpoint_url=s3_endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="corpus")
    rows = [{"id": str(n), "text": f"Ada Lovelace wrote note {n}."} for n in range(3)]
    client.put_object(Bucket="corpus", Key="in/a.jsonl", Body="".join(json.dumps(row) + "\n" for row in rows).encode())
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "b.parquet")
    client.put_object(Bucket="corpus", Key="in/b.parquet", Body=(tmp_path / "b.parquet").read_bytes())
    client.put_object(Bucket="corpus", Key="in/notes/c.md", Body=b"# Notes\n\nShe lived in London.")
    host = s3_endpoint.removeprefix("http://")
    return f"s3://corpus/in?scheme=http&endpoint_override={host}&region=us-east-1&allow_bucket_creation=false"


def listed(address: str) -> list[shards.Shard]:
    return list(shards.shards_of([address], Files(Naming()), []))


def test_a_folder_of_a_bucket_is_read_by_shards(bucket: str) -> None:
    files = Files(Naming())
    found = [one for shard in listed(bucket) for one in shards.read(shard, files)]
    assert all(isinstance(one, Source) for one in found), found
    texts = {one.uri: one.text for one in found if isinstance(one, Source)}
    lines = {f"s3://corpus/in/a.jsonl#{n}": f"Ada Lovelace wrote note {n}." for n in range(3)}
    rows = {f"s3://corpus/in/b.parquet#{n}": f"Ada Lovelace wrote note {n}." for n in range(3)}
    assert texts == {**lines, **rows, "s3://corpus/in/notes/c.md": "# Notes\n\nShe lived in London."}


def test_a_shard_has_the_same_key_until_its_file_changes(bucket: str, s3_endpoint: str) -> None:
    before = [shard.key for shard in listed(bucket)]
    assert [shard.key for shard in listed(bucket)] == before
    client = boto3.client("s3", endpoint_url=s3_endpoint, region_name="us-east-1")
    client.put_object(Bucket="corpus", Key="in/notes/c.md", Body=b"# Notes\n\nShe lived in Turin, too.")
    assert len(set(before) & {shard.key for shard in listed(bucket)}) == len(before) - 1


def test_a_slash_at_the_end_changes_nothing_and_a_uri_tells_no_secret(bucket: str) -> None:
    secret = bucket.replace("s3://corpus/in?", "s3://test:secret@corpus/in/?")
    assert [file.uri for shard in listed(secret) for file in shard.files] == [
        file.uri for shard in listed(bucket) for file in shard.files
    ]


def test_an_address_that_is_not_there_is_refused(bucket: str) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        listed(bucket.replace("/in?", "/elsewhere?"))
