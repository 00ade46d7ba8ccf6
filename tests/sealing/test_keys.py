"""Keys as texts: one spelling, the right id, nothing secret in what is shown."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from provenance.sealing.keys import (
    KeyNameError,
    KeyTextError,
    Verifier,
    generate_signer,
    parse_signer,
    parse_verifier,
)

# Published with the format: C2SP signed-note and the checksum database of Go.
PUBLISHED = (
    "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
)


@pytest.mark.parametrize("text", PUBLISHED)
def test_published_keys(text: str) -> None:
    assert parse_verifier(text).text == text
    assert parse_verifier(text + "\n").text == text


def test_a_private_key_reads_back() -> None:
    signer = generate_signer("ctxaudit.example/a")
    assert parse_signer(signer.text + "\n") == signer
    assert parse_signer(signer.text).verifier == parse_verifier(signer.verifier.text)


def test_nothing_that_is_shown_holds_the_secret() -> None:
    signer = generate_signer("ctxaudit.example/a")
    seed = base64.b64encode(b"\1" + signer.seed).decode()
    assert seed in signer.text
    assert seed not in repr(signer)
    assert signer.seed.hex() not in repr(signer)
    assert repr(signer.seed) not in repr(signer)
    with pytest.raises(KeyTextError) as caught:
        parse_signer(signer.text[:-4])
    assert signer.text[-20:-4] not in str(caught.value)
    with pytest.raises(KeyTextError, match="got a private one"):
        parse_verifier(signer.text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "name+00000000",
        PUBLISHED[0].replace("033de0ae", "033DE0AE"),
        PUBLISHED[0].replace("033de0ae", "033de0af"),
        PUBLISHED[0].replace("sum", "son"),
        PUBLISHED[0].replace("+Ac4", "+Bc4"),
        PUBLISHED[0] + "\n\n",
        PUBLISHED[0] + " ",
        " " + PUBLISHED[0],
        PUBLISHED[0][:-4],
        PUBLISHED[0].replace("sum.golang.org", "sum golang.org"),
        PUBLISHED[0].replace("sum.golang.org", ""),
        "\ufffd" * 10,
        "PRIVATE+KEY+" + PUBLISHED[0],
    ],
)
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(KeyTextError):
        parse_verifier(text)
    with pytest.raises(KeyTextError):
        parse_signer(text)


_FORM = "key: expected <name>+<8 hex digits>+<base64>, got another text"
_OTHER_ID = "key: expected the id of its own bytes, got another"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", _FORM),
        ("name", _FORM),
        ("name+00000000", _FORM),
        ("na me+00000000+AAAA", _FORM),
        ("name+0000000g+AAAA", _FORM),
        ("name+00000000+A", "key: expected standard base64, got another text"),
        ("name+00000000+AAAA", "key: expected an Ed25519 key of 32 bytes, got another kind"),
        (
            PUBLISHED[0].replace("+Ac4", "+Bc4"),
            "key: expected an Ed25519 key of 32 bytes, got another kind",
        ),
        (PUBLISHED[0].replace("sum", "son"), _OTHER_ID),
        ("PRIVATE+KEY+" + PUBLISHED[0], "key: expected a public key, got a private one"),
    ],
)
def test_what_is_said_of_a_public_key(text: str, said: str) -> None:
    with pytest.raises(KeyTextError) as refused:
        parse_verifier(text)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PUBLISHED[0], "key: expected a private key (PRIVATE+KEY+...), got another text"),
        ("PRIVATE+KEY+name", _FORM),
        ("PRIVATE+KEY+" + PUBLISHED[0], _OTHER_ID),
    ],
)
def test_what_is_said_of_a_private_key(text: str, said: str) -> None:
    with pytest.raises(KeyTextError) as refused:
        parse_signer(text)
    assert str(refused.value) == said


def test_what_is_said_of_a_name() -> None:
    with pytest.raises(KeyNameError) as refused:
        generate_signer("a b")
    assert str(refused.value) == (
        "name: expected printable text without spaces and plus, got another"
    )


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b", "a\nb", "a\u200bb", "x" * 256])
def test_what_no_key_may_be_called(name: str) -> None:
    with pytest.raises(KeyNameError):
        generate_signer(name)


@pytest.mark.parametrize("tail", ["00", "80"])
@pytest.mark.parametrize("head", ["00", "01"])
def test_a_key_that_anybody_can_sign_for_is_none(head: str, tail: str) -> None:
    weak = Verifier("a", bytes.fromhex(head + "00" * 30 + tail))
    assert weak.is_weak
    with pytest.raises(KeyTextError, match="large order"):
        parse_verifier(weak.text)


def test_the_library_is_loaded_at_the_first_key_and_not_before(checkout: Path) -> None:
    code = "import sys, provenance.sealing, provenance.audit; print('cryptography' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, capture_output=True, check=True
    )
    assert done.stdout == b"False\n"
