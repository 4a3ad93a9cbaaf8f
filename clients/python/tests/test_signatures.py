"""Signed decoders, as the product's own emitter wrote them: SignedDecodersTest keeps the fixture."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from plumbline_sae import Decoder, DecoderSubscriber
from plumbline_sae.signatures import TrustedKeys
from plumbline_sae.subscriber import Assembler

RECORDS = Path(__file__).parent / "fixtures" / "signed" / "records.json"

PUBLIC = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
"""
"""The first key of RFC 8032, 7.1."""

OTHER = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=
-----END PUBLIC KEY-----
"""
"""The second one."""

RSA = """-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDKOpWk1JXtbZIQldx1mNIu2cVC
V/J7r75zWCa8cNcjGx1xs+xQC6h4DOa1WPkCI2kkAypttrgRyRNamFUHAsLuxLHJ
BU3nZS2XmsaF55oix2FZ6i+8rYchfn4DUXAhySry0pn+vcjGg0XEe6Q8GWgmoZ4a
puEJQAkDf9ZHd9FiOwIDAQAB
-----END PUBLIC KEY-----
"""


@dataclass(frozen=True)
class Record:
    key: bytes
    value: bytes
    signature: bytes | None


def records(version: int) -> list[Record]:
    """Returns the chunk and the manifest of a version."""
    found = [
        Record(
            one["key"].encode(),
            base64.b64decode(one["value"]),
            one["signature"] and base64.b64decode(one["signature"]),
        )
        for one in json.loads(RECORDS.read_text())
    ]
    return found[2 * version - 2 : 2 * version]


@pytest.fixture
def signing(tmp_path: Path) -> Path:
    pytest.importorskip("cryptography")
    (tmp_path / "other.pub").write_text(OTHER)
    (tmp_path / "signing.pub").write_text(PUBLIC)
    return tmp_path / "signing.pub"


class Reader:
    def __init__(self, *files: Path) -> None:
        self.refused: list[tuple[int, str]] = []
        self.assembler = Assembler(
            "layer.2",
            [],
            lambda site, version, what: self.refused.append((version, what)),
            keys=TrustedKeys(files) if files else None,
        )

    def read(self, found: list[Record]) -> Decoder | None:
        assert self.assembler.accept(found[0].key, found[0].value, found[0].signature) is None
        return self.assembler.accept(found[1].key, found[1].value, found[1].signature)


def test_what_the_emitter_signed_is_handed_out(signing: Path) -> None:
    reader = Reader(signing)
    for version in (1, 2, 3):
        decoder = reader.read(records(version))
        assert decoder is not None
        np.testing.assert_array_equal(decoder.b_dec, [version + 1, 0.5])
    assert reader.refused == []


def test_what_is_unsigned_foreign_or_altered_is_refused_and_the_next_version_is_served(signing: Path) -> None:
    reader = Reader(signing)
    chunk, manifest = records(1)
    changes = {
        "it is not signed": replace(manifest, signature=None),
        "its signature has 71 bytes, expected 72": replace(manifest, signature=(manifest.signature or b"")[:71]),
        "it is not what the key ": replace(manifest, value=manifest.value.replace(b'"adapted"', b'"trained"')),
        "it is signed by the key 00": replace(manifest, signature=bytes(8) + (manifest.signature or b"")[8:]),
    }
    for reason, changed in changes.items():
        assert reader.read([chunk, changed]) is None
        version, what = reader.refused.pop()
        assert version == 1
        assert what.startswith(f"is not served: {reason}")
    assert reader.read([records(2)[0], replace(manifest, key=b"layer.2")]) is None, "chunks of another version"
    found = reader.read(records(3))
    assert found is not None
    assert found.version == 3


def test_another_key_takes_none_of_them_and_both_take_all(signing: Path) -> None:
    other = signing.with_name("other.pub")
    reader = Reader(other)
    assert reader.read(records(1)) is None
    assert [version for version, _ in reader.refused] == [1]
    assert Reader(other, signing).read(records(1)) is not None
    assert Reader().read(records(1)) is not None, "without keys signatures are not looked at"


def test_files_that_are_no_key_are_refused(signing: Path, tmp_path: Path) -> None:
    for text in ("", "-----BEGIN PUBLIC KEY-----\nMC4C\n-----END PUBLIC KEY-----\n", RSA):
        (tmp_path / "no.pub").write_text(text)
        with pytest.raises(ValueError, match=r"no\.pub: expected an Ed25519 PUBLIC KEY in PEM"):
            TrustedKeys([signing, tmp_path / "no.pub"])
    with pytest.raises(ValueError, match="no key is given"):
        TrustedKeys([])
    with pytest.raises(ValueError, match="expected a list of files"):
        TrustedKeys(str(signing))
    with pytest.raises(FileNotFoundError):
        TrustedKeys([tmp_path / "missing.pub"])


def test_who_cannot_check_signatures_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    (tmp_path / "signing.pub").write_text(PUBLIC)
    with pytest.raises(ImportError, match=r"pip install 'plumbline-sae\[signatures\]'"):
        DecoderSubscriber({}, {"a": None}, keys=[tmp_path / "signing.pub"])
