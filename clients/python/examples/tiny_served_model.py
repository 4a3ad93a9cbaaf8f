"""A tiny random language model to serve with vLLM, an explainer of one of its layers, and traffic for it.

    python tiny_served_model.py make DIR                    # some seconds, no download
    python tiny_served_model.py ask URL LANGUAGE REQUESTS   # LANGUAGE: english, german, russian

`--first N` asks what no earlier call asked: the texts of a language are numbered.

Needs torch and transformers, which vLLM brings.

The explainer is the simplest one that fits: a feature reads a random direction and is active on one in ten rows of
English and German text. The decoder is the one that reconstructs these rows best.
"""

from __future__ import annotations

import argparse
import json
import random
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SITE, LAYER = "residual.2", 2
FEATURES = 512
ACTIVE = 0.1
WIDTH = 128
WORDS = {
    "english": "the quick brown fox jumps over a lazy dog while every bird sings in tall green trees near our house",
    "german": "der schnelle braune Fuchs springt über einen müden Hund und alle Vögel singen in den grünen Bäumen",
    "russian": "быстрая рыжая лиса прыгает через старую собаку пока птицы поют высоко на зелёных деревьях возле дома",
}


MONITOR = f"""\
kafka: {{bootstrap.servers: "localhost:9092", replication.factor: "1"}}
window: {{size: 20s, advance: 20s, grace: 5s}}
sites:
  {SITE}:
    explainer: sae
    baseline: baseline.safetensors
    rank: 32
    threshold: {{false_alarm_rate: 0.05}}
    mask: {{token_ids: [0]}}
    adaptation: {{mode: auto}}
"""


def text(language: str, generator: random.Random) -> str:
    """Returns 8 to 24 words of a language."""
    return " ".join(generator.choices(WORDS[language].split(), k=generator.randint(8, 24)))


def make(folder: Path) -> None:
    """Writes the model and the explainer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from plumbline_sae.tensors import encode, tensor_of

    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=259,
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.08,
    )
    model = LlamaForCausalLM(config).eval()
    tokenizer = byte_tokenizer()
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")

    generator, rows = random.Random(1), []
    for language in ("english", "german"):
        for _ in range(60):
            ids = tokenizer(text(language, generator), return_tensors="pt").input_ids
            with torch.no_grad():
                states = model(ids, output_hidden_states=True).hidden_states
            rows.append(states[LAYER + 1][0, 1:])  # without <s>
    seen = torch.cat(rows).double()
    W_enc = torch.randn(WIDTH, FEATURES, dtype=torch.double)
    W_enc /= W_enc.norm(dim=0)
    b_enc = -torch.quantile(seen @ W_enc, 1 - ACTIVE, dim=0)
    b_dec = seen.mean(0)
    codes = torch.relu(seen @ W_enc + b_enc)
    energies = codes.T @ codes
    ridge = 0.1 * energies.diagonal().mean() * torch.eye(FEATURES)
    W_dec = torch.linalg.solve(energies + ridge, codes.T @ (seen - b_dec))
    fvu = (seen - b_dec - codes @ W_dec).square().sum() / (seen - b_dec).square().sum()
    parts = {"W_enc": W_enc, "b_enc": b_enc, "W_dec": W_dec, "b_dec": b_dec}
    weights = {name: part.float().numpy() for name, part in parts.items()}
    sae = folder / "sae"
    sae.mkdir(parents=True, exist_ok=True)
    settings = {
        "architecture": "standard",
        "d_in": WIDTH,
        "d_sae": FEATURES,
        "dtype": "float32",
        "apply_b_dec_to_input": False,
        "normalize_activations": "none",
        "metadata": {"hook_name": f"blocks.{LAYER}.hook_resid_post"},
    }
    (sae / "cfg.json").write_text(json.dumps(settings))
    blob = encode({name: tensor_of(value) for name, value in weights.items()})
    (sae / "sae_weights.safetensors").write_bytes(blob)
    worker = {
        "kafka": {"bootstrap.servers": "localhost:9092"},
        "sites": {SITE: f"blocks.{LAYER}.hook_resid_post"},
        "features": {SITE: {"path": str(sae.resolve()), "top": 16}},
        "decoders": {},
    }
    (folder / "vllm.json").write_text(json.dumps(worker, indent=2))
    (folder / "plumbline.yaml").write_text(MONITOR)
    print(f"{folder}/model: {sum(p.numel() for p in model.parameters()):,} parameters, no training")
    print(f"{folder}/sae: {FEATURES} features of blocks.{LAYER}.hook_resid_post, FVU {fvu:.3f}")


def byte_tokenizer() -> Any:
    """Returns a tokenizer whose tokens are the bytes of a text, behind <s>."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {"<s>": 0, "</s>": 1, "<pad>": 2, **{letter: number + 3 for number, letter in enumerate(alphabet)}}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def ask(url: str, language: str, requests: int, first: int = 0) -> None:
    """Sends requests to a server, eight at a time, each with a name of its own and the language as its tag."""

    def one(number: int) -> None:
        body = {
            "model": "tiny",
            "prompt": text(language, random.Random(f"{language} {number}")),
            "max_tokens": 4,
            "ignore_eos": True,
            "vllm_xargs": {"plumbline.tags": f"language={language}"},
        }
        headers = {"content-type": "application/json", "X-Request-Id": f"{language}-{number}"}
        request = urllib.request.Request(f"{url}/v1/completions", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            answer.read()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(first, first + requests)))
    print(f"{requests} requests in {language}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("make").add_argument("folder", type=Path)
    asking = commands.add_parser("ask")
    asking.add_argument("url")
    asking.add_argument("language", choices=sorted(WORDS))
    asking.add_argument("requests", type=int)
    asking.add_argument("--first", type=int, default=0, metavar="N")
    given = parser.parse_args()
    if given.command == "make":
        make(given.folder)
    else:
        ask(given.url, given.language, given.requests, given.first)


if __name__ == "__main__":
    main()
