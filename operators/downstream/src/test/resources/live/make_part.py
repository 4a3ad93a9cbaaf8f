"""Cuts the part that the tests need from the whole set: python make_part.py FOLDER (needs numpy and safetensors)."""
import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

source, here = Path(sys.argv[1]), Path(__file__).parent
PARTS = {
    "sae": ("sae", "java", [20, 0], ["fixed", "auto"]),
    "transcoder": ("tc", "spanish", [7, 0], ["fixed", "bias"]),
}


def active(weights, rows, config):
    pre = rows @ weights["W_enc"].astype(np.float64) + weights["b_enc"].astype(np.float64)
    if "k" in config:
        top = np.argsort(-pre, axis=1)[:, : config["k"]]
        return set(top.ravel().tolist())
    return set(np.nonzero((pre > 0).any(axis=0))[0].tolist())


for folder, (site, setting, chosen, methods) in PARTS.items():
    target = here / folder
    target.mkdir(exist_ok=True)
    weights = load_file(source / "explainers" / folder / "sae_weights.safetensors")
    config = json.loads((source / "explainers" / folder / "cfg.json").read_text())
    rows = load_file(source / "recordings" / site / f"{setting}_eval.safetensors")
    offsets = rows["request_offsets"]
    kept = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])
    part = {name: np.ascontiguousarray(values[kept]) for name, values in rows.items() if name != "request_offsets"}
    part["request_offsets"] = np.concatenate([[0], np.cumsum([offsets[i + 1] - offsets[i] for i in chosen])]).astype(np.int64)
    features = np.array(sorted(active(weights, part["activations"].astype(np.float64), config)), dtype=np.int64)
    part["feature_ids"] = features
    save_file(part, target / "requests.safetensors")
    config["d_sae"] = len(features)
    (target / "cfg.json").write_text(json.dumps(config, indent=1) + "\n")
    cut = {"W_enc": weights["W_enc"][:, features], "b_enc": weights["b_enc"][features], "W_dec": weights["W_dec"][features], "b_dec": weights["b_dec"]}
    save_file({name: np.ascontiguousarray(values) for name, values in cut.items()}, target / "sae_weights.safetensors")
    for method in methods[1:]:
        decoder = load_file(source / "decoders" / site / setting / f"{method}.safetensors")
        if "W_dec" in decoder:
            decoder["W_dec"] = np.ascontiguousarray(decoder["W_dec"][features])
        save_file(decoder, target / f"{method}.safetensors")
    oracle = json.loads((source / "oracle" / f"prompts_{site}_{setting}.json").read_text())
    values = {
        method: {name: [all_values[i] for i in chosen] for name, all_values in oracle["methods"][method].items() if isinstance(all_values, list)}
        for method in methods
    }
    out = {"requests": len(chosen), "target": [oracle["target"][i] for i in chosen], "methods": values}
    (target / "oracle.json").write_text(json.dumps(out) + "\n")
    print(folder, len(features), "features")
(here / "sae" / "dla.json").write_text(json.dumps(json.loads((source / "dla" / "sae_java.json").read_text())) + "\n")

# The model and the whole autoencoder lie where the demonstration has them.
live = here.parents[5] / "topology/demo/src/main/resources/io/plumbline/demo/live"
COPIES = {
    "model/body.onnx": live / "model/body.onnx",
    "model/head_sae.onnx": live / "model/head.onnx",
    "model/tokenizer.json": live / "model/tokenizer.json",
    "explainers/sae/cfg.json": live / "explainer/cfg.json",
    "explainers/sae/sae_weights.safetensors": live / "explainer/sae_weights.safetensors",
    "explainers/transcoder/cfg.json": here / "explainers/transcoder/cfg.json",
    "explainers/transcoder/sae_weights.safetensors": here / "explainers/transcoder/sae_weights.safetensors",
} | {f"requests/{name}.safetensors": here / f"requests/{name}.safetensors" for name in ("baseline", "id_eval", "spanish_adapt", "spanish_eval")}
for path, target in COPIES.items():
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes((source / path).read_bytes())
