"""A weakly causal crosscoder by the names of Gemma Scope 2, and what its definition makes of rows, in float64.

    python make_gemma_crosscoder.py OUT

No library to install was found that computes one, so this is the definition written out: a feature reads one layer, compared with its threshold;
each layer is the sum of what the features of ALL layers write into it. Entries into layers below a feature's own are zero, as the technical
report of Gemma Scope 2 defines the dictionary, so a reader that leaves them out must agree. numpy 2.4.6, safetensors 0.8.0.
"""
import json, sys
from pathlib import Path
import numpy as np
from safetensors.numpy import save_file

NUMBERS, ROWS, D, K = [5, 9, 12], 48, 16, 32
folder = Path(sys.argv[1]) / "gemma_scope_2_crosscoder"
(folder / "explainer").mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(23)
directions = rng.normal(size=(24, D)) / np.sqrt(D)
state, x = np.broadcast_to(rng.normal(size=D), (ROWS, D)).copy(), []
for layer in range(len(NUMBERS)):
    state = state * 0.8 + np.maximum(rng.normal(size=(ROWS, 24)) - 0.8, 0) @ directions * 3 + 0.05 * rng.normal(size=(ROWS, D))
    x.append(state.astype(np.float32))
weights = [rng.normal(size=(D, K)) / np.sqrt(D) for _ in NUMBERS]
biases = [-np.quantile(x[s] @ weights[s], 0.7, axis=0) for s in range(len(NUMBERS))]
thresholds = [rng.uniform(0.0, 0.3, size=K) for _ in NUMBERS]


def codes_of(files):
    found = []
    for s, file in enumerate(files):
        pre = x[s].astype(np.float64) @ file["w_enc"].astype(np.float64) + file["b_enc"].astype(np.float64)
        found.append(np.maximum(pre, 0) * (pre > file["threshold"].astype(np.float64)))
    return found


files = [{"w_enc": weights[s].astype(np.float32), "b_enc": biases[s].astype(np.float32), "threshold": thresholds[s].astype(np.float32)}
    for s in range(len(NUMBERS))]
codes = codes_of(files)
for s in range(len(NUMBERS)):
    files[s]["w_dec"] = np.zeros((K, len(NUMBERS), D), np.float32)
for t in range(len(NUMBERS)):
    z = np.concatenate(codes[: t + 1], 1)
    mean_z, mean_y = z.mean(0), x[t].astype(np.float64).mean(0)
    w = np.linalg.solve((z - mean_z).T @ (z - mean_z) + 2.0 * np.eye(z.shape[1]), (z - mean_z).T @ (x[t] - mean_y))
    for s in range(t + 1):
        files[s]["w_dec"][:, t] = w[s * K : (s + 1) * K]
    files[t]["b_dec"] = (mean_y - mean_z @ w).astype(np.float32)
tensors, fvu = {}, {}
for s, file in enumerate(files):
    save_file(file, folder / "explainer" / f"params_layer_{s}.safetensors")
for t, number in enumerate(NUMBERS):
    made = sum(np.einsum("nk,kd->nd", codes[s], files[s]["w_dec"][:, t].astype(np.float64)) for s in range(len(NUMBERS))) + files[t]["b_dec"]
    tensors |= {f"activations.{number}": x[t], f"codes.{number}": codes[t], f"reconstructions.{number}": made}
    fvu[str(number)] = float(((x[t] - made) ** 2).sum() / ((x[t] - x[t].astype(np.float64).mean(0)) ** 2).sum())
save_file(tensors, folder / "blocks.safetensors")
(folder / "explainer" / "config.json").write_text(json.dumps({"hf_hook_point_in": "model.layers.{5,9,12}.output",
    "hf_hook_point_out": "model.layers.{5,9,12}.output", "width": 3 * K, "model_name": "google/gemma-3-270m-pt", "architecture": "jump_relu",
    "l0": 150, "affine_connection": False, "type": "crosscoder"}, indent=2) + "\n")
(folder / "blocks.json").write_text(json.dumps({"name": folder.name, "rows": ROWS, "d_sae": K, "fvu": fvu,
    "active_per_row": [round(float((c > 0).sum(1).mean()), 2) for c in codes], "made_by": "the definition in numpy, float64"}, indent=2) + "\n")
print(fvu)
