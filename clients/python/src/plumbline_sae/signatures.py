"""Signatures of published decoders: whether one of some public keys signed a record of the topic.

What is signed is described in the product's docs/concepts/decoders.md. The package `cryptography` checks it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HEADER = "plumbline.signature"
"""The header of a record that holds the id of a key and its signature."""

_PURPOSE = b"plumbline-decoders-1\n"
_ID_BYTES = 8
_BYTES = _ID_BYTES + 64


class TrustedKeys:
    """The public keys whose decoders are taken: several while one takes the place of another.

    Args:
        files: Ed25519 keys, a PEM file each, as `openssl pkey -in KEY -pubout` writes them.

    Raises:
        ImportError: when the package `cryptography` is missing.
        ValueError: when there is no file, or one holds no such key.
    """

    def __init__(self, files: Sequence[str | Path]) -> None:
        if isinstance(files, str | Path):
            raise ValueError(f"keys = {files}: expected a list of files")
        if not files:
            raise ValueError("no key is given: expected at least one file, or None to check no signatures")
        self._keys = dict(_read(Path(file)) for file in files)

    def __str__(self) -> str:
        return " or ".join(sorted(self._keys))

    def refusal(self, key: bytes, value: bytes, signed: bytes | None) -> str | None:
        """Returns why none of these keys signed a record, or None when one did.

        Args:
            key: the record's key.
            value: the record's value.
            signed: what its header holds.
        """
        from cryptography.exceptions import InvalidSignature

        if signed is None:
            return f"it is not signed, expected the key {self}"
        if len(signed) != _BYTES:
            return f"its signature has {len(signed)} bytes, expected {_BYTES}"
        number, signature = signed[:_ID_BYTES], signed[_ID_BYTES:]
        by = self._keys.get(number.hex())
        if by is None:
            return f"it is signed by the key {number.hex()}, expected {self}"
        try:
            by.verify(signature, _PURPOSE + number + struct.pack(">i", len(key)) + key + value)
        except InvalidSignature:
            return f"it is not what the key {number.hex()} signed"
        return None


def _read(file: Path) -> tuple[str, Any]:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
    except ImportError as error:
        raise ImportError(
            "signatures of decoders are checked by the package cryptography: pip install 'plumbline-sae[signatures]'"
        ) from error
    try:
        key = load_pem_public_key(file.read_bytes())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(
            f"{file}: expected an Ed25519 PUBLIC KEY in PEM, as `openssl pkey -in KEY -pubout` writes it"
        ) from None
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).digest()[:_ID_BYTES].hex(), key
