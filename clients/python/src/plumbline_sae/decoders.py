"""Decoders as they are published: the manifest, the artefact, and the check of both against the trained decoder.

What stands on the topic is described in the product's docs/concepts/decoders.md, factors in docs/concepts/swaps.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .tensors import FLOATS, Array, Tensor, decode, identity, metadata_of, tensor_of

LARGEST = 2_147_483_583
"""Bytes of the largest artefact."""

WEIGHTS, FACTORS = 1, 2
"""Schemas of a manifest: the artefact is the decoder, or factors that make it of the trained one."""

_SHA256 = re.compile("[0-9a-f]{64}")
_BLOCK = 256
"""Features whose weights are made together."""


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
        sha256: what the manifest calls it: of weights the SHA-256 of the artefact, of factors the identity.
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
        W_dec: the weights; None where only the identity is known, and then factors cannot be read.
        b_dec: the bias, or None with the weights.
    """

    identity: str
    W_dec: Array | None = field(default=None, repr=False)
    b_dec: Array | None = field(default=None, repr=False)

    @classmethod
    def of(cls, source: Any) -> Trained:
        """Returns the trained decoder of a folder, a safetensors file, an identity, an SAE of `sae_lens` or a mapping.

        An SAE must hold the weights as they were trained: take it before the first swap.

        Raises:
            ValueError: when the source has no `W_dec` and `b_dec`.
        """
        if isinstance(source, Trained):
            return source
        if isinstance(source, str) and _SHA256.fullmatch(source):
            return cls(source)
        if isinstance(source, str | Path):
            return cls._of(_read(Path(source)), str(source))
        if isinstance(source, Mapping):
            return cls._of({name: tensor_of(source[name]) for name in source if name in ("W_dec", "b_dec")}, "mapping")
        found = {name: getattr(source, name) for name in ("W_dec", "b_dec") if hasattr(source, name)}
        return cls._of({name: tensor_of(value) for name, value in found.items()}, type(source).__name__)

    @classmethod
    def _of(cls, tensors: Mapping[str, Tensor], where: str) -> Trained:
        missing = [name for name in ("W_dec", "b_dec") if name not in tensors]
        if missing:
            raise ValueError(f"{where}: has no {' and no '.join(missing)}, which a trained decoder consists of")
        # A copy: the caller's SAE changes with every swap.
        weights, bias = (np.array(tensors[name].widened()) for name in ("W_dec", "b_dec"))
        return cls(identity(weights, bias), weights, bias)


def _read(path: Path) -> dict[str, Tensor]:
    file = path / "sae_weights.safetensors" if path.is_dir() else path
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
        if name == "version" and manifest["schema"] not in (WEIGHTS, FACTORS):
            return manifest  # of a layout to come: no more is known of it
    names = ["sha256", "parent_sha256"] + (["artefact_sha256"] if manifest["schema"] == FACTORS else [])
    for name in names:
        if not (isinstance(manifest.get(name), str) and _SHA256.fullmatch(manifest[name])):
            raise ValueError(f"{name} = {str(manifest.get(name))[:80]}, expected 64 hexadecimal digits")
    if not isinstance(manifest.get("kind"), str):
        raise ValueError("no kind")
    return manifest


def decoder_of(site: str, manifest: Mapping[str, Any], blob: bytes, trained: Trained | None) -> Decoder:
    """Returns the decoder that an artefact holds, or makes of the trained one.

    Raises:
        ValueError: says why it is none.
    """
    tensors = decode(blob)
    if manifest["schema"] == WEIGHTS:
        weights, bias = _checked(tensors, trained)
    else:
        if trained is None or trained.W_dec is None:
            raise ValueError(
                "travels as factors of the trained decoder: name that with --parent, or have it published"
                " with adaptation.encoding: dense"
            )
        try:
            made = _made_of({name: tensor.values for name, tensor in tensors.items()}, trained.W_dec)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"cannot be read: {error}") from None
        weights, bias = _checked(made, trained)
        if identity(weights, bias) != manifest["sha256"]:
            raise ValueError(f"its factors make another decoder than {manifest['sha256']}")
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


def _made_of(factors: Mapping[str, Array], trained: Array) -> dict[str, Tensor]:
    """Returns the decoder of its factors and the trained one, to the last bit of what was published.

    In float64, every product and every sum rounded by itself, every sum in ascending order; then float32. numpy
    multiplies and adds in two steps, so nothing is fused; `@` would add in an order of its own.
    """

    def product(rows: Array, factor: Array) -> Array:
        total = np.zeros((len(rows), factor.shape[1]))
        for index in range(len(factor)):
            total += rows[:, index, None] * factor[index]
        return total

    exact = {name: tensor.astype(np.float64) for name, tensor in factors.items() if tensor.dtype == np.float32}
    weights = trained.astype("<f4").astype(np.float64)
    if "turn" in exact:
        for first in range(0, len(weights), _BLOCK):
            rows = product(weights[first : first + _BLOCK], exact["turn"])
            weights[first : first + _BLOCK] = product(rows, exact["basis"].T) if "basis" in exact else rows
    if "dual" in exact:
        start = factors["row_start"]
        for row, dual in enumerate(exact["dual"]):
            entries = slice(start[row], start[row + 1])
            weights[factors["feature"][entries]] += exact["value"][entries, None] * dual
    return {"W_dec": Tensor("F32", weights.astype("<f4")), "b_dec": tensor_of(factors["b_dec"])}
