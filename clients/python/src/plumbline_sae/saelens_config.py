"""What the `cfg.json` of a SAELens folder says of the arithmetic, by the rules that the monitor reads it by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "cfg.json"
WEIGHTS = "sae_weights.safetensors"

RESCALE = "rescale_acts_by_decoder_norm"
_DEFAULT_K = 100
_RESCALED = ("topk", "abstopk")
_AVERAGE = "expected_average_only_in"


@dataclass(frozen=True)
class SaeLensConfig:
    """The arithmetic of a SAELens folder.

    Attributes:
        architecture: `topk` where a folder from before SAELens 6 has its k in `activation_fn_kwargs`.
        k: how many features topk keeps.
        is_rescaled: whether pre-activations are compared times the length of the decoder's row.
        subtracts_b_dec: whether the encoder reads rows without `b_dec`.
        normalisation: of the rows; `none` changes nothing.
        is_fine_tuned: whether a factor of its own scales each code.
    """

    architecture: str
    k: int
    is_rescaled: bool
    subtracts_b_dec: bool
    normalisation: str
    is_fine_tuned: bool

    @classmethod
    def read(cls, folder: Path) -> SaeLensConfig:
        """Returns what a folder says.

        Raises:
            ValueError: when its `cfg.json` is no JSON object, or a value is of another type.
        """
        file = folder / FILE
        try:
            document = json.loads(file.read_text())
            if not isinstance(document, dict):
                raise ValueError("no JSON object")
            training = document.get("sae")  # a training configuration has them one level down
            return cls._of(training if "d_in" not in document and isinstance(training, dict) else document)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{file}: {error}") from None

    @classmethod
    def _of(cls, given: Mapping[str, Any]) -> SaeLensConfig:
        architecture = _text(given, "architecture", "standard")
        k = given.get("k")
        kept = given.get("activation_fn_kwargs")
        old_k = kept.get("k") if isinstance(kept, Mapping) else None
        activation = _text(given, "activation_fn", _text(given, "activation_fn_str", ""))
        if old_k is not None and activation == "topk" and _is_before_6(given):
            architecture, k = "topk", old_k
        own = "jumprelu" if architecture.startswith("jumprelu") else architecture
        if activation not in ("", "relu", "topk", own):
            raise ValueError(f"activation_fn {activation[:40]!r}: expected relu, topk or none for {architecture}")
        return cls(
            architecture,
            _whole("k", _DEFAULT_K if k is None else k) if architecture in _RESCALED else 0,
            _flag(given, RESCALE, False) and architecture in _RESCALED,
            _flag(given, "apply_b_dec_to_input", not architecture.endswith("transcoder")),
            _normalisation(given.get("normalize_activations")),
            _flag(given, "finetuning_scaling_factor", False),
        )


def _is_before_6(given: Mapping[str, Any]) -> bool:
    metadata = given.get("metadata")
    version = given.get("sae_lens_version")
    if not isinstance(version, str):
        version = metadata.get("sae_lens_version") if isinstance(metadata, Mapping) else None
    major, dot, _ = version.partition(".") if isinstance(version, str) else ("", "", "")
    return not (dot and major.isdecimal() and int(major) >= 6)


def _normalisation(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _AVERAGE if value else "none"
    return str(value)


def _flag(given: Mapping[str, Any], name: str, when_absent: bool) -> bool:
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} = {str(value)[:40]}: expected true or false")
    return when_absent if value is None else value


def _text(given: Mapping[str, Any], name: str, when_absent: str) -> str:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} = {str(value)[:40]}: expected a string")
    return when_absent if value is None else value


def _whole(name: str, value: Any) -> int:
    is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    if not is_whole or value < 1:
        raise ValueError(f"{name} = {str(value)[:40]}: expected a whole number from 1 on")
    return int(value)
