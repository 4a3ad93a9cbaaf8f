"""What a watched explainer makes of the rows: its largest codes and its reconstructions.

They travel in the records of a site with `explainer: none`, beside the rows they are of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from ..decoders import Decoder
from ..saelens_config import RESCALE, WEIGHTS, SaeLensConfig
from ..tensors import Tensor, decode, tensor_of

_KINDS = ("standard", "jumprelu", "topk")
_ROWS = 1_024
"""Rows that are encoded at a time: [rows, features] is the largest of the tensors."""


class FeatureTap:
    """Reads rows with a SAELens SAE, on the device that computed them.

    `codes = act((x - b_in) W_enc + b_enc)`, `reconstruction = codes W_dec + b_dec`. `b_in` is the trained `b_dec` where
    the SAE subtracts it (`apply_b_dec_to_input`), and a copy: another decoder moves no code. Cost: 4 d features
    multiplications a row, in float32. Not thread-safe: the tap's thread reads and swaps.

    Args:
        folder: `cfg.json` and `sae_weights.safetensors`, of architecture standard, jumprelu or topk.
        top: how many codes of a row are sent.
        device: where rows are.

    Raises:
        ValueError: when the SAE is of another kind, or changes its rows or its codes in a way that is not known here.
    """

    def __init__(self, folder: str | Path, top: int, device: Any) -> None:
        folder = Path(folder)
        config = SaeLensConfig.read(folder)
        self._kind = config.architecture
        if self._kind not in _KINDS:
            raise ValueError(f"{folder}: architecture {self._kind}, expected one of {', '.join(_KINDS)}")
        for name, found, plain in (
            ("normalize_activations", config.normalisation, "none"),
            (RESCALE, config.is_rescaled, False),
            ("finetuning_scaling_factor", config.is_fine_tuned, False),
        ):
            if found != plain:
                raise ValueError(f"{folder}: {name} is {found!r}, expected {plain!r}; fold it into the weights")
        tensors = decode((folder / WEIGHTS).read_bytes())
        weights = {name: torch.tensor(values.widened()).to(device, torch.float32) for name, values in tensors.items()}
        scale = weights.get("scaling_factor")
        if scale is not None and not bool((scale == 1).all()):
            raise ValueError(f"{folder}: tensor scaling_factor is not 1 throughout; fold it into the weights")
        self._W_enc, self._b_enc = weights["W_enc"], weights["b_enc"]
        self._W_dec, self._b_dec = weights["W_dec"], weights["b_dec"]
        self._b_in = weights["b_dec"].clone() if config.subtracts_b_dec else None
        self._threshold = weights["threshold"] if self._kind == "jumprelu" else None
        self._k = config.k
        if self._k > self._W_dec.shape[0]:
            raise ValueError(f"{folder}: k = {self._k}, expected at most d_sae = {self._W_dec.shape[0]}")
        self._top = min(top, self._W_dec.shape[0])

    def read(self, rows: Any) -> dict[str, Tensor]:
        """Returns `reconstructions` in the type of the rows, `code_indices` and `code_values`, all on the host."""
        with torch.no_grad():
            parts = [self._read(part) for part in torch.as_tensor(rows).split(_ROWS)]
        names = ("reconstructions", "code_indices", "code_values")
        return {name: tensor_of(torch.cat(found)) for name, found in zip(names, zip(*parts, strict=True), strict=True)}

    def swap(self, decoder: Decoder) -> None:
        """Reads with another decoder from here on; codes stay."""
        self._W_dec.copy_(torch.tensor(decoder.W_dec))
        self._b_dec.copy_(torch.tensor(decoder.b_dec))

    def _read(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        wide = rows.float()
        codes = (wide if self._b_in is None else wide - self._b_in) @ self._W_enc + self._b_enc
        if self._threshold is not None:
            codes = torch.where(codes > self._threshold, codes, torch.zeros_like(codes))
        codes = torch.relu(codes)
        if self._kind == "topk":
            kept = codes.topk(self._k, dim=-1)
            codes = torch.zeros_like(codes).scatter_(-1, kept.indices, kept.values)
        values, indices = codes.topk(self._top, dim=-1)
        indices = torch.where(values > 0, indices, torch.full_like(indices, -1))
        return (codes @ self._W_dec + self._b_dec).to(rows.dtype), indices.int(), values
