"""Tokens of an identity provider: forged ones, its keys as they change, and a provider that does not answer."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any, cast

import jwt
import pytest
from pydantic import ValidationError

from tests.identity import AUDIENCE, Issuer, SigningKey, issuing
from trueweave import Settings
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.server.problems import Refusal, response_of
from trueweave.server.tokens import Tokens, ValidToken, check_provider

NO_DATABASE = cast("Database", None)  # tokens for all workspaces, or for none, need none
RSA = SigningKey("rsa", "RS256")
EC = SigningKey("ec", "ES256")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing(RSA, EC) as made:
        yield made


def checking(issuer: Issuer, clock: Clock | None = None, **settings: Any) -> Tokens:
    found = Settings(oidc_issuer=issuer.url, oidc_audience=AUDIENCE, **settings)
    return Tokens(NO_DATABASE, found, clock or Clock())


def forged(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """A token that no library would make, signed with a secret or not at all."""

    def part(value: bytes) -> bytes:
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    said = part(json.dumps(header).encode()) + b"." + part(json.dumps(claims).encode())
    signed = hmac.new(secret, said, hashlib.sha256).digest() if secret is not None else b""
    return (said + b"." + part(signed)).decode()


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_a_token_of_the_provider_is_taken(algorithm: str) -> None:
    with issuing(SigningKey("k", algorithm)) as issuer:
        tokens = checking(issuer)
        found = await tokens.find(issuer.token())
        assert found == ValidToken(f"{issuer.url}#ada", "ada", "read", None)
        assert await tokens.find(issuer.token()) == found
        assert issuer.asked == ["/.well-known/openid-configuration", "/jwks"]
        await tokens.aclose()


OTHER = SigningKey("rsa", "RS256")
FORGED: dict[str, Callable[[Issuer], str]] = {
    "no signature": lambda of: jwt.encode(of.claims(), "", "none", {"kid": "rsa"}),
    "alg none in capitals": lambda of: forged({"alg": "NONE", "kid": "rsa"}, of.claims(), None),
    "an empty signature": lambda of: forged({"alg": "RS256", "kid": "rsa"}, of.claims(), None),
    "HS256 with the public key": lambda of: forged({"alg": "HS256", "kid": "rsa"}, of.claims(), RSA.pem),
    "RS256 that is HMAC with the public key": lambda of: forged({"alg": "RS256", "kid": "rsa"}, of.claims(), RSA.pem),
    "HS256 with the published key": lambda of: forged(
        {"alg": "HS256", "kid": "rsa"}, of.claims(), json.dumps(of.keys[0]).encode()
    ),
    "another key of the same id": lambda of: of.token(OTHER),
    "the id of a key of another kind": lambda of: of.token(EC, {"kid": "rsa"}),
    "an algorithm that is not allowed": lambda of: jwt.encode(of.claims(), RSA.key, "RS512", {"kid": "rsa"}),
    "an unknown key": lambda of: of.token(SigningKey("unknown")),
    "its own key in the header": lambda of: of.token(OTHER, {"jwk": OTHER.published(), "kid": "mine"}),
    "its own address of keys": lambda of: of.token(OTHER, {"jku": f"{of.url}/jwks", "kid": "mine"}),
    "a critical extension": lambda of: of.token(headers={"crit": ["exp"], "exp": 1}),
    "changed claims": lambda of: _changed(of.token(), of.claims(sub="byron")),
    "another issuer": lambda of: of.token(iss="https://evil.example"),
    "the issuer with a slash": lambda of: of.token(iss=f"{of.url}/"),
    "no issuer": lambda of: of.token(iss=None),
    "another audience": lambda of: of.token(aud="https://other.example"),
    "other audiences": lambda of: of.token(aud=["a", "b"]),
    "no audience": lambda of: of.token(aud=None),
    "expired": lambda of: of.token(exp=of.claims()["iat"] - 31),
    "no end": lambda of: of.token(exp=None),
    "not valid yet": lambda of: of.token(nbf=of.claims()["iat"] + 60),
    "made in the future": lambda of: of.token(iat=of.claims()["iat"] + 60),
    "no subject": lambda of: of.token(sub=None),
    "an empty subject": lambda of: of.token(sub=""),
    "a subject with a line end": lambda of: of.token(sub="ada\nbyron"),
    "a subject with NUL": lambda of: of.token(sub="ada\0"),
    "a long subject": lambda of: of.token(sub="a" * 256),
    "too long": lambda of: of.token(more="a" * 20_000),
    "nonsense": lambda _: "nonsense",
    "dots": lambda _: "..",
    "not ASCII": lambda _: "ü.ü.ü",
    "not JSON": lambda _: "e30x.e30.AAAA",
}


def _changed(token: str, claims: dict[str, Any]) -> str:
    head, _, signature = token.split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


@pytest.mark.parametrize("make", FORGED.values(), ids=FORGED.keys())
async def test_a_forged_token_is_refused(make: Callable[[Issuer], str], issuer: Issuer) -> None:
    tokens = checking(issuer)
    assert await tokens.find(issuer.token())
    assert await tokens.find(make(issuer)) is None


async def test_clocks_may_differ_a_little(issuer: Issuer) -> None:
    now = issuer.claims()["iat"]
    assert await checking(issuer).find(issuer.token(exp=now - 20, nbf=now + 20, iat=now + 20))


async def test_a_token_without_an_id_is_signed_with_the_only_key_for_its_algorithm(issuer: Issuer) -> None:
    bare = jwt.encode(issuer.claims(), EC.key, "ES256")
    assert await checking(issuer).find(bare)
    issuer.keys.append(SigningKey("another").published())
    assert await checking(issuer).find(bare) is None


@pytest.mark.parametrize(
    ("published", "signing"),
    [
        (RSA.published(use="enc"), RSA),
        (RSA.published(alg="RS512"), RSA),
        ({"kty": "oct", "kid": "rsa", "k": base64.urlsafe_b64encode(RSA.pem).decode()}, RSA),
        ({**RSA.published(), "n": "AQAB"}, RSA),
        ({"kty": "EC", "kid": "ec", "crv": "P-256"}, EC),
    ],
    ids=["for encryption", "for another algorithm", "a secret", "too short", "broken"],
)
async def test_a_key_that_is_not_fit_for_signing_is_not_used(
    published: dict[str, Any], signing: SigningKey, issuer: Issuer
) -> None:
    other = SigningKey("other")
    issuer.keys = [published, other.published()]
    tokens = checking(issuer)
    assert await tokens.find(issuer.token(other))
    assert await tokens.find(issuer.token(signing)) is None
    secret = forged({"alg": "HS256", "kid": "rsa"}, issuer.claims(), RSA.pem)
    assert await tokens.find(secret) is None


def test_a_secret_shared_with_the_provider_cannot_be_set() -> None:
    for algorithm in ("none", "HS256", "ES256K", ""):
        with pytest.raises(ValidationError):
            Settings(oidc_algorithms=(algorithm,))


async def test_keys_are_replaced(issuer: Issuer) -> None:
    clock = Clock()
    tokens = checking(issuer, clock)
    assert await tokens.find(issuer.token(RSA))
    new = SigningKey("new")
    issuer.keys = [EC.published(), new.published()]
    clock.now += 11
    assert await tokens.find(issuer.token(new)), "an unknown key is looked for"
    assert await tokens.find(issuer.token(RSA, jti="x")) is None, "one that was withdrawn is gone with that"
    issuer.keys = [new.published()]
    clock.now += 290
    assert await tokens.find(issuer.token(EC, jti="a")), "until the keys are fetched again"
    clock.now += 11
    assert await tokens.find(issuer.token(EC, jti="b")) is None


async def test_made_up_keys_do_not_make_the_server_ask_again_and_again(issuer: Issuer) -> None:
    clock = Clock()
    tokens = checking(issuer, clock)
    assert await tokens.find(issuer.token())
    for n in range(100):
        clock.now += 0.1
        assert await tokens.find(issuer.token(OTHER, {"kid": f"made up {n}"})) is None
    assert issuer.asked.count("/jwks") == 2


async def test_who_needs_the_keys_at_the_same_time_waits_for_one_request(issuer: Issuer) -> None:
    tokens = checking(issuer)
    found = await asyncio.gather(*(tokens.find(issuer.token(jti=str(n))) for n in range(50)))
    assert all(found)
    assert issuer.asked.count("/jwks") == 1


async def unavailable(tokens: Tokens, token: str) -> str:
    with pytest.raises(Refusal) as told:
        await tokens.find(token)
    answer = response_of(told.value)
    assert (answer.status_code, told.value.code) == (503, "identity_provider_unavailable")
    return answer.headers["retry-after"]


async def test_a_provider_that_does_not_answer_is_no_reason_to_trust(issuer: Issuer) -> None:
    clock = Clock()
    tokens = checking(issuer, clock)
    issuer.answers["/jwks"] = 500, {}, b""
    assert await unavailable(tokens, issuer.token()) == "10"
    clock.now += 4
    assert await unavailable(tokens, issuer.token()) == "6"
    assert issuer.asked.count("/jwks") == 1
    clock.now += 7
    issuer.answers.clear()
    assert await tokens.find(issuer.token())


async def test_known_keys_are_used_for_an_hour_while_the_provider_is_away(issuer: Issuer) -> None:
    clock = Clock()
    tokens = checking(issuer, clock)
    assert await tokens.find(issuer.token())
    issuer.answers["/jwks"] = 500, {}, b""
    clock.now += 3590
    assert await tokens.find(issuer.token(jti="a"))
    await unavailable(tokens, issuer.token(SigningKey("perhaps new")))
    clock.now += 20
    await unavailable(tokens, issuer.token(jti="b"))
    await tokens.aclose()


BROKEN: dict[str, dict[str, tuple[int, dict[str, str], bytes]]] = {
    "redirected": {"/jwks": (302, {"Location": "/elsewhere"}, b"")},
    "too large": {"/jwks": (200, {}, b" " * (2**20 + 1))},
    "packed": {"/jwks": (200, {"Content-Encoding": "gzip"}, b"{}")},
    "not JSON": {"/jwks": (200, {}, b"<html>")},
    "a list": {"/jwks": (200, {}, b"[]")},
    "deep": {"/jwks": (200, {}, b"[" * 100_000)},
    "no keys": {"/jwks": (200, {}, b'{"keys": []}')},
    "keys of no kind": {"/jwks": (200, {}, b'{"keys": [1, {}, {"kty": "RSA"}]}')},
    "another's discovery": {
        "/.well-known/openid-configuration": (200, {}, b'{"issuer": "https://evil.example", "jwks_uri": "x"}')
    },
    "no discovery": {"/.well-known/openid-configuration": (404, {}, b"")},
}


@pytest.mark.parametrize("answers", BROKEN.values(), ids=BROKEN.keys())
async def test_what_is_not_a_key_set_is_not_used(answers: Any, issuer: Issuer) -> None:
    issuer.answers = answers
    await unavailable(checking(issuer), issuer.token())
    assert "/elsewhere" not in issuer.asked


async def test_keys_are_fetched_from_no_address_that_others_can_change(issuer: Issuer) -> None:
    for address in ("http://keys.example/jwks", "file:///etc/passwd", "//127.0.0.1/jwks", "http://[", ""):
        described = json.dumps({"issuer": issuer.url, "jwks_uri": address}).encode()
        issuer.answers["/.well-known/openid-configuration"] = 200, {}, described
        await unavailable(checking(issuer), issuer.token())


def test_settings_of_a_provider_are_checked() -> None:
    check_provider(Settings())
    check_provider(Settings(oidc_issuer="https://id.example", oidc_audience="a"))
    with pytest.raises(ConfigError, match="starts with https://"):
        check_provider(Settings(oidc_issuer="http://id.example", oidc_audience="a"))
    with pytest.raises(ConfigError, match="oidc_audience is not"):
        check_provider(Settings(oidc_issuer="https://id.example"))
    with pytest.raises(ConfigError, match="not a setting of a workspace"):
        Settings().over({"oidc_issuer": "https://evil.example"})


@pytest.mark.parametrize(
    ("claims", "scope"),
    [
        ({"scope": "trueweave:read trueweave:admin"}, "admin"),
        ({"scope": ["trueweave:write", 1, None]}, "write"),
        ({"scope": "trueweave:administrator"}, None),
        ({"scope": {"trueweave:admin": True}}, None),
        ({"scope": 7}, None),
        ({"scope": None}, None),
    ],
)
async def test_a_scope_is_that_of_the_claim(claims: dict[str, Any], scope: str | None, issuer: Issuer) -> None:
    token = issuer.token(**claims)
    if scope is None:
        with pytest.raises(Refusal, match="none of trueweave:read"):
            await checking(issuer).find(token)
        return
    found = await checking(issuer).find(token)
    assert found
    assert found.scope == scope


async def test_claims_may_be_inside_of_others_or_be_called_by_addresses(issuer: Issuer) -> None:
    found = await checking(issuer, oidc_scope_claim="realm_access.roles").find(
        issuer.token(realm_access={"roles": ["offline_access", "trueweave:write"]})
    )
    assert found
    assert found.scope == "write"
    found = await checking(issuer, oidc_workspaces_claim="https://a.example/workspaces").find(
        issuer.token(None, None, **{"https://a.example/workspaces": "*"})
    )
    assert found
    assert found.workspaces is None


@pytest.mark.parametrize("named", [None, [], "", {}, [["*"]], {"*": 1}, 7, ["a\0b", "x" * 201]])
async def test_a_token_that_names_no_workspace_is_for_none(named: Any, issuer: Issuer) -> None:
    found = await checking(issuer).find(issuer.token(trueweave_workspaces=named))
    assert found
    assert found.workspaces == frozenset()


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (None, ()),
        ("hr", ("hr",)),
        (["legal", "hr", "hr"], ("hr", "legal")),
        (["*"], ("*",)),
        ([], ()),
        (["hr", "", " a", "x" * 201, "a\0b"], ("hr",)),
    ],
)
async def test_groups_are_those_of_the_claim(claim: Any, groups: tuple[str, ...], issuer: Issuer) -> None:
    found = await checking(issuer).find(issuer.token(trueweave_groups=claim))
    assert found
    assert found.groups == groups
    found = await checking(issuer, oidc_groups_claim="realm.groups").find(issuer.token(realm={"groups": claim}))
    assert found
    assert found.groups == groups
    found = await checking(issuer, oidc_groups_claim="realm.groups").find(issuer.token(realm=claim or "none"))
    assert found
    assert found.groups == ()


@pytest.mark.parametrize("claim", [7, True, {}, {"hr": True}, ["hr", 1], [["hr"]], [None]])
async def test_a_claim_of_groups_in_another_form_is_refused(claim: Any, issuer: Issuer) -> None:
    with pytest.raises(Refusal, match="trueweave_groups of the token is neither a text nor a list") as refused:
        await checking(issuer).find(issuer.token(trueweave_groups=claim))
    assert refused.value.status_code == 403
