"""Small models of every decoder family that the installed transformers have, initialised at random."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

torch.set_num_threads(1)  # small models wait for the others' threads more than they compute

MOST_PARAMETERS = 10_000_000
FAMILIES: dict[str, str] = dict(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
"""The class of each family's causal language model."""

# What configurations call their sizes; one has those of them that it knows.
_SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "dim", "embed_dim", "emb_dim", "lru_width"), 32),
    **dict.fromkeys(("word_embed_proj_dim", "embedding_size", "attention_hidden_size", "mamba_d_ssm"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "encoder_layers"), 4),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "rotary_dim", "time_step_rank", "index_topk"), 4),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("linear_num_value_heads", "num_attention_layers"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_global_key_value_heads", "num_experts_per_tok", "moe_k"), 2),
    **dict.fromkeys(("linear_num_key_heads", "n_groups", "n_mamba_heads", "index_n_heads"), 2),
    **dict.fromkeys(("head_dim", "global_head_dim", "d_kv", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"), 8),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim", "mamba_d_head", "mamba_head_dim"), 8),
    **dict.fromkeys(("mamba_n_heads", "mamba_num_heads", "mamba_d_state", "state_size"), 8),
    **dict.fromkeys(("hidden_size_per_layer_input",), 8),
    **dict.fromkeys(("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "decoder_ffn_dim"), 48),
    **dict.fromkeys(("encoder_ffn_dim", "dim_ff", "d_ff", "hidden_dim", "mlp_hidden_size"), 48),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "expert_ffn_hidden_size"), 16),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "index_head_dim", "sliding_window", "attention_window_size"), 16),
    **dict.fromkeys(("vocab_size", "vocab_size_per_layer_input", "max_position_embeddings", "n_positions"), 64),
    **dict.fromkeys(("n_ctx", "max_seq_len", "seq_length", "max_sequence_length"), 64),
    **dict.fromkeys(("n_group", "topk_group", "num_shared_experts", "n_shared_experts", "first_k_dense_replace"), 1),
    **dict.fromkeys(("pad_token_id", "num_kv_shared_layers"), 0),
    "bos_token_id": 1,
    "eos_token_id": 2,
    "mamba_expand": 2,
    "residual_multiplier": 0.22,  # Granite's own; its configuration's default is 1
}


def _attempts(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields sizes to try: heads that share keys or not, of given width or not, layers of the default kinds or not."""
    sizes = {name: value for name, value in _SIZES.items() if name in config}
    kinds = {"layer_types": None} if "layer_types" in config else {}
    whole = {"num_key_value_heads": 4} if "num_key_value_heads" in config else {}
    if "q_lora_rank" in config or "kv_lora_rank" in config:
        yield {**sizes, **kinds, **whole}
    yield {**sizes, **kinds}
    yield {**sizes, **kinds, **whole, **({"head_dim": None} if "head_dim" in config else {})}
    yield sizes
    yield {**sizes, **whole}
    yield {name: value for name, value in {**sizes, **kinds}.items() if name != "head_dim"}


def tiny(family: str) -> Any:
    """Returns a small model of a family, whose scales and biases are no zeros or ones.

    Raises:
        ValueError: with the reasons, when none of these sizes makes one.
    """
    reasons: list[str] = []
    try:
        plain = CONFIG_MAPPING[family]().get_text_config().to_dict()
        model_class = getattr(transformers, FAMILIES[family])
    except Exception as error:
        raise ValueError(f"{family}: {error}") from error
    for sizes in _attempts(plain):
        try:
            config = (model_class.config_class or CONFIG_MAPPING[family])(**sizes)
            with torch.device("meta"):
                parameters = sum(parameter.numel() for parameter in model_class(config).parameters())
            if parameters > MOST_PARAMETERS:
                raise ValueError(f"{parameters} parameters")
            torch.manual_seed(5)
            model = model_class(config).eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.numel() > 0 and bool((parameter == parameter.flatten()[0]).all()):
                        parameter.add_(torch.randn_like(parameter) * 0.2)
                model(input_ids=torch.tensor([[3, 4, 5]]))
            return model
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {str(error)[:80]}")
    raise ValueError(f"{family}: " + "; ".join(dict.fromkeys(reasons)))
