"""Tiny models of random weights with a tokenizer of bytes, and what transformers computes at their places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from plumbline_sae.tensors import Array

WIDTH = 256
_SHAPE = {
    "vocab_size": 259,
    "hidden_size": WIDTH,
    "intermediate_size": 3 * WIDTH,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 2048,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
    "initializer_range": 0.08,
}
_GPT2 = {
    "vocab_size": 259,
    "n_positions": 2048,
    "n_embd": WIDTH,
    "n_layer": 4,
    "n_head": 4,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "initializer_range": 0.08,
}


def make(kind: str, folder: Path) -> str:
    """Makes a model of a kind, unless it is there; returns its folder."""
    out = folder / kind
    if (out / "config.json").exists():
        return str(out)
    torch.manual_seed(7)
    config = {
        "llama": lambda: transformers.LlamaConfig(**_SHAPE),
        "gemma2": lambda: transformers.Gemma2Config(**_SHAPE, query_pre_attn_scalar=64, sliding_window=1024),
        "gemma3": lambda: transformers.Gemma3TextConfig(**_SHAPE, query_pre_attn_scalar=64, sliding_window=1024),
        "gpt2": lambda: transformers.GPT2Config(**_GPT2),
    }[kind]()
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():  # norms that differ, or rows of a wrong place would look right
        for name, value in model.named_parameters():
            if "norm" in name or ".ln_" in name:
                value.copy_(0.5 + torch.rand_like(value))
    model.save_pretrained(out)
    _tokenizer().save_pretrained(out)
    return str(out)


def save_llama(folder: Path, *, dtype: str, heads: int, **shape: int) -> None:
    """Makes a Llama of another shape."""
    config = transformers.LlamaConfig(
        **{**_SHAPE, **shape, "num_attention_heads": heads, "num_key_value_heads": heads, "initializer_range": 0.02}
    )
    transformers.LlamaForCausalLM(config).to(getattr(torch, dtype)).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)


def _tokenizer() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {"<s>": 0, "</s>": 1, "<pad>": 2, **{letter: number + 3 for number, letter in enumerate(alphabet)}}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        chat_template="{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}",
    )


class Oracle:
    """What transformers computes at every place, by TransformerLens' names."""

    def __init__(self, path: str, dtype: str = "float32") -> None:
        self._model = transformers.AutoModelForCausalLM.from_pretrained(
            path, dtype=getattr(torch, dtype), attn_implementation="eager"
        ).eval()
        self._seen: dict[str, torch.Tensor] = {}
        inner = getattr(self._model, "model", None) or self._model.transformer
        layers = getattr(inner, "layers", None) or inner.h
        for number, layer in enumerate(layers):
            self._see(layer, f"blocks.{number}.hook_resid_pre", f"blocks.{number}.hook_resid_post")
            self._see(layer.mlp, f"blocks.{number}.mlp.hook_in", f"blocks.{number}.mlp.hook_out")
            adding = getattr(layer, "post_feedforward_layernorm", layer.mlp)
            self._see(adding, "", f"blocks.{number}.hook_mlp_out")

    def _see(self, module: Any, reads: str, writes: str) -> None:
        def hook(_: Any, inputs: Any, kwargs: Any, output: Any) -> None:
            given = inputs[0] if inputs else next(iter(kwargs.values()))
            self._seen[reads] = given.clone()
            self._seen[writes] = (output[0] if isinstance(output, tuple) else output).clone()

        module.register_forward_hook(hook, with_kwargs=True)

    def __call__(self, ids: Sequence[int]) -> dict[str, Array]:
        with torch.no_grad():
            self._model(torch.tensor([list(ids)]))
        return {name: value.reshape(len(ids), -1).float().numpy() for name, value in self._seen.items()}


def error(rows: Array, wanted: Array) -> float:
    """Returns the largest relative error of a row."""
    return float((np.linalg.norm(rows - wanted, axis=1) / np.linalg.norm(wanted, axis=1)).max())
