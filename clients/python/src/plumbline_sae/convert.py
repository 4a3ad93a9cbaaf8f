"""Turns explainers that were published as pickles into SAELens folders, which the product and sae-lens read.

Pickles are read with `torch.load(weights_only=True)`, which runs no code. Facts that no file holds, such as the k of a
Qwen Scope SAE, are arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .tensors import Array, Tensor, encode, tensor_of

State = dict[str, torch.Tensor]


@dataclass
class _Explainer:
    """An explainer in SAELens' terms: orientation and names as it stores them."""

    architecture: str
    apply_b_dec_to_input: bool
    tensors: dict[str, torch.Tensor]
    config: dict[str, Any] = field(default_factory=dict)


def convert(source: str | Path, out: str | Path, *, kind: str = "auto", **facts: Any) -> Path:
    """Writes the SAELens folder of a pickled explainer.

    Args:
        source: the file (`ae.pt`, `NAME.pt`, `NAME.pth`), or the folder of a dictionary_learning SAE.
        out: the folder to write; it must not exist, or be empty.
        kind: `dictionary_learning`, `goodfire`, `qwen_scope`, `deepseek_r1`, `connor_rob` or `openai`; `auto` tells it
            from the names of the tensors, and refuses where two kinds have the same names.
        facts: `k` for Qwen Scope; `hook_name` and `model_name` for the metadata.

    Returns:
        The folder.

    Raises:
        ValueError: when the file is no explainer of this kind, a fact is missing, or the folder is not empty.
    """
    target = Path(out)
    if target.exists() and any(target.iterdir()):
        raise ValueError(f"{target}: is not empty; name a folder that does not exist")
    file = _file(Path(source))
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(f"{file}: cannot be read without running code from it: {error}") from error
    if not isinstance(state, dict):
        raise ValueError(f"{file}: holds {type(state).__name__}, expected a dictionary of tensors")
    config = _config_beside(file)
    reader = _READERS[_kind(kind, state, config, file)]
    try:
        explainer = reader(state, config, facts)
    except KeyError as error:
        raise ValueError(f"{file}: expected a tensor or a key {error} of a {reader.__name__[1:]} explainer") from None
    _check(explainer, file)
    _write(target, explainer, facts)
    return target


def _file(source: Path) -> Path:
    if not source.is_dir():
        return source
    file = source / "ae.pt"
    if not file.is_file():
        raise ValueError(f"{source}: has no ae.pt; name the pickle itself")
    return file


def _config_beside(file: Path) -> dict[str, Any]:
    for name in ("config.json", f"{file.stem}_cfg.json"):
        beside = file.with_name(name)
        if beside.is_file():
            try:
                found = json.loads(beside.read_text(encoding="utf-8-sig"))
            except ValueError as error:
                raise ValueError(f"{beside}: expected JSON in UTF-8: {error}") from error
            return found if isinstance(found, dict) else {}
    return {}


def _kind(kind: str, state: State, config: dict[str, Any], file: Path) -> str:
    if kind != "auto":
        if kind not in _READERS:
            raise ValueError(f"kind = {kind!r}: expected auto or one of {', '.join(_READERS)}")
        return kind
    names = set(state)
    if "trainer" in config:
        return "dictionary_learning"
    if "pre_bias" in names and "latent_bias" in names:
        return "openai"
    if "encoder_linear.weight" in names:
        return "goodfire"
    if "act_name" in config:
        return "connor_rob"
    raise ValueError(
        f"{file}: its tensors {sorted(names)} fit more than one kind, or none; name the kind: {', '.join(_READERS)}"
    )


def _dictionary_learning(state: State, config: dict[str, Any], facts: dict[str, Any]) -> _Explainer:
    name = facts.get("dict_class") or config.get("trainer", {}).get("dict_class")
    reader = _CLASSES.get(str(name))
    if reader is None:
        raise ValueError(f"dict_class = {name}: expected one of {', '.join(_CLASSES)}")
    return reader(state)


def _auto_encoder(state: State) -> _Explainer:
    return _Explainer("standard", True, _linear(state, "bias"))


def _auto_encoder_new(state: State) -> _Explainer:
    return _Explainer("standard", False, _linear(state, "decoder.bias"))


def _gated(state: State) -> _Explainer:
    tensors = {
        "W_enc": state["encoder.weight"].T,
        "W_dec": state["decoder.weight"].T,
        "b_dec": state["decoder_bias"],
        "b_gate": state["gate_bias"],
        "b_mag": state["mag_bias"],
        "r_mag": state["r_mag"],
    }
    return _Explainer("gated", True, tensors)


def _jump_relu(state: State) -> _Explainer:
    return _Explainer("jumprelu", False, {**_named(state), "threshold": state["threshold"]})


def _top_k(state: State) -> _Explainer:
    return _Explainer(
        "topk", True, _linear(state, "b_dec"), {"k": int(state["k"]), "rescale_acts_by_decoder_norm": False}
    )


def _batch_top_k(state: State) -> _Explainer:
    return _thresholded(_linear(state, "b_dec"), float(state["threshold"]))


def _matryoshka(state: State) -> _Explainer:
    return _thresholded(_named(state), float(state["threshold"]))


def _thresholded(tensors: State, threshold: float) -> _Explainer:
    """A threshold of -1 was never set: every positive pre-activation is a code."""
    if threshold < 0:
        return _Explainer("standard", True, tensors)
    return _Explainer("jumprelu", True, {**tensors, "threshold": torch.full_like(tensors["b_enc"], threshold)})


def _goodfire(state: State, config: dict[str, Any], facts: dict[str, Any]) -> _Explainer:
    tensors = {
        "W_enc": state["encoder_linear.weight"].T,
        "b_enc": state["encoder_linear.bias"],
        "W_dec": state["decoder_linear.weight"].T,
        "b_dec": state["decoder_linear.bias"],
    }
    return _Explainer("standard", False, tensors)


def _deepseek_r1(state: State, config: dict[str, Any], facts: dict[str, Any]) -> _Explainer:
    return _Explainer("standard", False, _linear(state, "decoder.bias"))


def _qwen_scope(state: State, config: dict[str, Any], facts: dict[str, Any]) -> _Explainer:
    if "k" not in facts:
        raise ValueError("a Qwen Scope file does not say its k: give k=..., from the repository's name (L0_50: 50)")
    tensors = {**_named(state), "W_enc": state["W_enc"].T, "W_dec": state["W_dec"].T}
    return _Explainer("topk", False, tensors, {"k": int(facts["k"]), "rescale_acts_by_decoder_norm": False})


def _connor_rob(state: State, config: dict[str, Any], facts: dict[str, Any]) -> _Explainer:
    name = config.get("act_name", facts.get("hook_name"))
    return _Explainer("standard", True, _named(state), {"reshape_activations": "hook_z", "_hook_name": name})


def _openai(state: State, config: dict[str, Any], facts: dict[str, Any]) -> _Explainer:
    tensors = {
        "W_enc": state["encoder.weight"].T,
        "b_enc": state["latent_bias"],
        "W_dec": state["decoder.weight"].T,
        "b_dec": state["pre_bias"],
    }
    activation = str(state.get("activation", "ReLU"))
    if activation == "TopK":
        settings: Any = state["activation_state_dict"]
        more = {"k": int(settings["k"]), "rescale_acts_by_decoder_norm": False, "normalize_activations": "layer_norm"}
        return _Explainer("topk", True, tensors, more)
    if activation != "ReLU":
        raise ValueError(f"activation = {activation}: expected TopK or ReLU")
    return _Explainer("standard", True, tensors)


def _linear(state: State, bias: str) -> State:
    """Returns the tensors of two linear layers, turned round."""
    return {
        "W_enc": state["encoder.weight"].T,
        "b_enc": state["encoder.bias"],
        "W_dec": state["decoder.weight"].T,
        "b_dec": state[bias],
    }


def _named(state: State) -> State:
    return {name: state[name] for name in ("W_enc", "b_enc", "W_dec", "b_dec")}


_READERS: dict[str, Callable[[State, dict[str, Any], dict[str, Any]], _Explainer]] = {
    "dictionary_learning": _dictionary_learning,
    "goodfire": _goodfire,
    "qwen_scope": _qwen_scope,
    "deepseek_r1": _deepseek_r1,
    "connor_rob": _connor_rob,
    "openai": _openai,
}

_CLASSES: dict[str, Callable[[State], _Explainer]] = {
    "AutoEncoder": _auto_encoder,
    "AutoEncoderNew": _auto_encoder_new,
    "GatedAutoEncoder": _gated,
    "JumpReluAutoEncoder": _jump_relu,
    "AutoEncoderTopK": _top_k,
    "BatchTopKSAE": _batch_top_k,
    "MatryoshkaBatchTopKSAE": _matryoshka,
}


def _check(explainer: _Explainer, file: Path) -> None:
    encoder, decoder = explainer.tensors["W_enc"], explainer.tensors["W_dec"]
    if encoder.ndim != 2 or decoder.ndim != 2 or tuple(encoder.shape) != tuple(decoder.shape)[::-1]:
        raise ValueError(
            f"{file}: the encoder is {list(encoder.shape)} and the decoder {list(decoder.shape)};"
            " expected [width, features] and [features, width]"
        )
    features, width = decoder.shape
    for name, tensor in explainer.tensors.items():
        expected = (width,) if name == "b_dec" else (features,)
        if not name.startswith("W_") and tuple(tensor.shape) != expected:
            raise ValueError(f"{file}: {name} is {list(tensor.shape)}, expected {list(expected)}")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{file}: {name} holds a value that is not finite")


def _write(target: Path, explainer: _Explainer, facts: dict[str, Any]) -> None:
    tensors = {name: _stored(tensor) for name, tensor in explainer.tensors.items()}
    features, width = tensors["W_dec"].shape
    config = dict(explainer.config)
    hook_name = facts.get("hook_name", config.pop("_hook_name", None))
    document = {
        "architecture": explainer.architecture,
        "d_in": width,
        "d_sae": features,
        "dtype": "float64" if tensors["W_dec"].dtype == "F64" else "float32",
        "device": "cpu",
        "apply_b_dec_to_input": explainer.apply_b_dec_to_input,
        "normalize_activations": "none",
        "reshape_activations": "none",
        **config,
        "metadata": {
            "sae_lens_version": "6.0.0",
            "model_name": facts.get("model_name"),
            "hook_name": hook_name,
        },
    }
    target.mkdir(parents=True, exist_ok=True)
    (target / "sae_weights.safetensors").write_bytes(encode(tensors))
    (target / "cfg.json").write_text(json.dumps(document, indent=2) + "\n")


def _stored(tensor: torch.Tensor) -> Tensor:
    """Returns the tensor in float32, or in float64 where it has it: 16-bit types are widened, exactly."""
    values: Array = tensor_of(tensor).widened()
    return tensor_of(values if values.dtype == np.float64 else values.astype(np.float32))
