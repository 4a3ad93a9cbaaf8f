"""Decoders as they are published: the manifest, the artefact, and the check of both against the trained decoder.

What stands on the topic is described in the product's docs/concepts/decoders.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .saelens_config import FILE, RESCALE, WEIGHTS, SaeLensConfig
from .tensors import FLOATS, Array, Tensor, decode, identity, metadata_of, tensor_of

LARGEST = 2_147_483_583
"""Bytes of the largest artefact."""

SCHEMA = 1
"""The version of a manifest."""

_SHA256 = re.compile("[0-9a-f]{64}")
_ROWS = 4_096
"""Rows whose lengths are computed at a time."""


@dataclass(frozen=True)
class Decoder:
    """A published decoder, verified.

    Attributes:
        site: the site it is of.
        version: grows by one with every decoder of the site.
        kind: `adapted`, or `trained` where the trained decoder returned.
        W_dec: [features, dimension] in a float type; bfloat16 is widened to float32, exactly.
        b_dec: [dimension].
        lineage: how it was made: window, rows, FVU and gap before and after, all as text.
        sha256: SHA-256 of the artefact.
        parent_sha256: identity of the trained decoder it was made from.
    """

    site: str
    version: int
    kind: str
    W_dec: Array
    b_dec: Array
    lineage: Mapping[str, str]
    sha256: str
    parent_sha256: str

    @property
    def identity(self) -> str:
        """Returns SHA-256 of the weights and the bias as float32, whatever type they travelled in."""
        return identity(self.W_dec, self.b_dec)


@dataclass(frozen=True)
class Trained:
    """The trained decoder of a site: what a published one must have been made from.

    Attributes:
        identity: SHA-256 of the weights and the bias as float32.
        W_dec: the weights; None where only the identity is known.
        b_dec: the bias, or None with the weights.
    """

    identity: str
    W_dec: Array | None = field(default=None, repr=False)
    b_dec: Array | None = field(default=None, repr=False)

    @classmethod
    def of(cls, source: Any) -> Trained:
        """Returns the trained decoder of a folder, a safetensors file, an identity, an SAE of `sae_lens` or a mapping.

        It is the one that the monitor reads: of a SAELens folder or SAE with `rescale_acts_by_decoder_norm` rows have
        length 1. Give the identity that `plumbline explainer` prints where the site has the option `norm`. An SAE must
        hold the weights as they were trained: take it before the first swap.

        Raises:
            ValueError: when the source has no `W_dec` and `b_dec`, or its `cfg.json` cannot be read.
        """
        if isinstance(source, Trained):
            return source
        if isinstance(source, str) and _SHA256.fullmatch(source):
            return cls(source)
        if isinstance(source, str | Path):
            return cls._of(_read(Path(source)), str(source), _is_rescaled(Path(source)))
        if isinstance(source, Mapping):
            return cls._of({name: tensor_of(source[name]) for name in source if name in ("W_dec", "b_dec")}, "mapping")
        found = {name: getattr(source, name) for name in ("W_dec", "b_dec") if hasattr(source, name)}
        is_rescaled = bool(getattr(getattr(source, "cfg", None), RESCALE, False))
        return cls._of({name: tensor_of(value) for name, value in found.items()}, type(source).__name__, is_rescaled)

    @classmethod
    def _of(cls, tensors: Mapping[str, Tensor], where: str, is_rescaled: bool = False) -> Trained:
        missing = [name for name in ("W_dec", "b_dec") if name not in tensors]
        if missing:
            raise ValueError(f"{where}: has no {' and no '.join(missing)}, which a trained decoder consists of")
        # A copy: the caller's SAE changes with every swap.
        bias = np.array(tensors["b_dec"].widened())
        stored = tensors["W_dec"].widened()
        weights = _unit_rows(stored) if is_rescaled else np.array(stored)
        return cls(identity(weights, bias), weights, bias)


def _unit_rows(weights: Array) -> Array:
    """Returns the rows divided by their lengths, bit for bit as the monitor does: squares are added in their order.

    numpy's own sums add them in pairs. The last bit of a length then differs, and among 10^8 weights some are rounded
    to another float32, which makes another identity.
    """
    found = np.empty(weights.shape, np.float64 if weights.dtype == np.float64 else np.float32)
    for first in range(0, len(weights), _ROWS):
        columns = np.ascontiguousarray(weights[first : first + _ROWS].T, dtype=np.float64)
        squares = np.zeros(columns.shape[1])
        for column in columns:
            squares += column * column
        lengths = np.sqrt(squares)
        found[first : first + _ROWS] = (columns / np.where(lengths > 0.0, lengths, 1.0)).T
    return found


def _is_rescaled(path: Path) -> bool:
    folder = path if path.is_dir() else path.parent if path.name == WEIGHTS else None
    return folder is not None and (folder / FILE).is_file() and SaeLensConfig.read(folder).is_rescaled


def _read(path: Path) -> dict[str, Tensor]:
    file = path / WEIGHTS if path.is_dir() else path
    try:
        return decode(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def manifest_of(value: bytes) -> dict[str, Any]:
    """Returns the manifest in a record's value, with every field that it is used by checked.

    Raises:
        ValueError: says what is wrong with it.
    """
    try:
        manifest = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {str(error)[:80]}") from None
    if not isinstance(manifest, dict):
        raise ValueError("no JSON object")
    for name, most in (("schema", 2**31), ("version", 2**53), ("chunks", LARGEST), ("bytes", LARGEST)):
        number = manifest.get(name)
        if type(number) is not int or not 0 < number <= most:
            raise ValueError(f"{name} = {str(number)[:40]}, expected a whole number from 1 to {most}")
        if name == "version" and manifest["schema"] != SCHEMA:
            return manifest  # of a layout to come: no more is known of it
    for name in ("sha256", "parent_sha256"):
        if not (isinstance(manifest.get(name), str) and _SHA256.fullmatch(manifest[name])):
            raise ValueError(f"{name} = {str(manifest.get(name))[:80]}, expected 64 hexadecimal digits")
    if not isinstance(manifest.get("kind"), str):
        raise ValueError("no kind")
    return manifest


def decoder_of(site: str, manifest: Mapping[str, Any], blob: bytes, trained: Trained | None) -> Decoder:
    """Returns the decoder that an artefact holds.

    Raises:
        ValueError: says why it is none.
    """
    weights, bias = _checked(decode(blob), trained)
    return Decoder(
        site,
        manifest["version"],
        manifest["kind"],
        weights,
        bias,
        metadata_of(blob),
        manifest["sha256"],
        manifest["parent_sha256"],
    )


def _checked(tensors: Mapping[str, Tensor], trained: Trained | None) -> tuple[Array, Array]:
    """Returns weights and bias, whose shapes and values are those of a decoder."""
    found = []
    for name, rank in (("W_dec", 2), ("b_dec", 1)):
        tensor = tensors.get(name)
        if tensor is None or len(tensor.shape) != rank or tensor.dtype not in FLOATS:
            what = "is missing" if tensor is None else f"is {tensor.values.dtype} {list(tensor.shape)}"
            raise ValueError(f"{name} {what}, expected floating point of {rank} dimension{'s' * (rank > 1)}")
        expected = None if trained is None else getattr(trained, name)
        if expected is not None and tensor.shape != expected.shape:
            raise ValueError(f"{name} is {list(tensor.shape)}, the trained decoder's {list(expected.shape)}")
        values = tensor.widened()
        if not np.isfinite(values).all():
            raise ValueError(f"{name} holds a value that is not finite")
        found.append(values)
    weights, bias = found
    if weights.shape[1] != bias.shape[0]:
        raise ValueError(f"W_dec {list(weights.shape)} and b_dec {list(bias.shape)} do not fit")
    return weights, bias
