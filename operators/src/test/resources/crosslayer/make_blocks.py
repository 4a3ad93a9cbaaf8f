"""Golden values of cross-layer transcoders, from circuit-tracer's own CrossLayerTranscoder in float64.

    PYTHONPATH=circuit-tracer python make_blocks.py OUT

circuit-tracer at decoderesearch/circuit-tracer 4bb8c0e; torch 2.15.0, numpy 2.4.6, safetensors 0.8.0. Its loader of Gemma Scope 2 leaves
out the last layer (range(max(paths))), so it is given one path more than there are layers.
"""
import json, sys
from pathlib import Path
import numpy as np
import torch
from safetensors.torch import load_file, save_file
from circuit_tracer.transcoder.cross_layer_transcoder import CrossLayerTranscoder, load_clt, load_gemma_scope_2_clt

OUT = Path(sys.argv[1])
ROWS, D, O, K, LAYERS = 64, 48, 48, 96, 3


def rows(rng, layers, d):
    """Rows of each layer: the one before, and something new."""
    directions = rng.normal(size=(40, d)) / np.sqrt(d)
    found, state = [], rng.normal(size=d)
    state = np.broadcast_to(state, (ROWS, d)).copy()
    for _ in range(layers):
        strengths = np.maximum(rng.normal(size=(ROWS, 40)) - 0.8, 0)
        state = state * 0.7 + strengths @ directions * 3 + 0.05 * rng.normal(size=(ROWS, d))
        found.append(state.copy())
    return np.stack(found).astype(np.float32)


def fit(codes, targets):
    """Decoders of each target layer from the codes of the layers up to it, by ridge."""
    layers, n, k = codes.shape
    weights, biases = [], []
    for t in range(layers):
        z = np.concatenate([codes[s] for s in range(t + 1)], 1)
        mean_z, mean_y = z.mean(0), targets[t].mean(0)
        zc = z - mean_z
        w = zc.T @ np.linalg.solve(zc @ zc.T + 8.0 * np.eye(n), targets[t] - mean_y)
        weights.append(w.reshape(t + 1, k, -1))
        biases.append(mean_y - mean_z @ w)
    return weights, biases


def record(clt, x, y, folder, name, **facts):
    with torch.no_grad():
        codes = clt.encode(x)
        decoded = clt.decode(codes, x)
    tensors, fvu = {}, {}
    for i in range(len(x)):
        tensors[f"activations.{i}"] = x[i].float()
        tensors[f"targets.{i}"] = y[i].float()
        tensors[f"codes.{i}"] = codes[i].float()
        tensors[f"reconstructions.{i}"] = decoded[i].float()
        fvu[str(i)] = float(((y[i] - decoded[i]) ** 2).sum() / ((y[i] - y[i].mean(0)) ** 2).sum())
    save_file({k: v.contiguous() for k, v in tensors.items()}, folder / "blocks.safetensors")
    (folder / "blocks.json").write_text(json.dumps({"name": name, "rows": len(x[0]), "layers": len(x), "d_sae": codes.shape[2],
        "active_per_row": [round(float((c != 0).sum(1).double().mean()), 2) for c in codes], "fvu": fvu,
        "library": "circuit-tracer 0.4.1 (decoderesearch/circuit-tracer 4bb8c0e)", **facts}, indent=2) + "\n")
    print(name, fvu)


def published(name):
    """The case that circuit-tracer wrote itself: rows of our own, its weights."""
    folder = OUT / name
    clt = load_clt(str(folder / "explainer"), dtype=torch.float64, lazy_decoder=False)
    rng = np.random.default_rng(7)
    x = torch.tensor(rows(rng, clt.n_layers, clt.d_model)).double()
    with torch.no_grad():
        y = clt.decode(clt.encode(x)) + 0.3 * torch.tensor(rng.normal(size=x.shape))
    record(clt, x, y.float().double(), folder, name, made_by="load_clt of what to_safetensors wrote")


def encoders(rng, x, k):
    w = rng.normal(size=(LAYERS, k, D)) / np.sqrt(D)
    pre = np.einsum("lnd,lkd->lnk", x, w)
    return w, -np.quantile(pre, 0.8, axis=1), pre


def relu_bfloat16():
    name = "circuit_tracer_clt_relu_bfloat16"
    folder = OUT / name
    (folder / "explainer").mkdir(parents=True)
    rng = np.random.default_rng(11)
    x = rows(rng, LAYERS, D)
    y = np.tanh(np.stack([x[: i + 1].sum(0) for i in range(LAYERS)])) + 0.05 * rng.normal(size=x.shape)
    w, b, pre = encoders(rng, x, 40)
    weights, biases = fit(np.maximum(pre + b[:, None], 0), y)
    clt = CrossLayerTranscoder(LAYERS, 40, D, "relu", lazy_decoder=False, dtype=torch.bfloat16)
    with torch.no_grad():
        clt.W_enc.copy_(torch.tensor(w)); clt.b_enc.copy_(torch.tensor(b)); clt.b_dec.copy_(torch.tensor(np.stack(biases)))
        for s in range(LAYERS):
            clt.W_dec[s].copy_(torch.tensor(np.stack([weights[t][s] for t in range(s, LAYERS)], 1)))
    clt.to_safetensors(str(folder / "explainer"))
    (folder / "explainer" / "config.yaml").write_text("model_name: google/gemma-2-2b\nmodel_kind: cross_layer_transcoder\nfeature_input_hook: hook_resid_mid\nfeature_output_hook: hook_mlp_out\nscan: local/clt\n")
    back = load_clt(str(folder / "explainer"), dtype=torch.float64, lazy_decoder=False)
    record(back, torch.tensor(x).double(), torch.tensor(y).float().double(), folder, name, made_by="to_safetensors, read with load_clt")


def gemma():
    name = "gemma_scope_2_clt"
    folder = OUT / name
    (folder / "explainer").mkdir(parents=True)
    rng = np.random.default_rng(13)
    x = rows(rng, LAYERS, D)
    y = np.tanh(np.stack([x[: i + 1].sum(0) for i in range(LAYERS)])) + 0.05 * rng.normal(size=x.shape)
    w, b, pre = encoders(rng, x, 64)
    threshold = rng.uniform(0.0, 0.3, size=(LAYERS, 64))
    shifted = pre + b[:, None]
    affine = 0.1 * rng.normal(size=(LAYERS, D, D)) / np.sqrt(D)
    weights, biases = fit(shifted * (shifted > threshold[:, None]), y - np.einsum("lnd,ldo->lno", x, affine))
    for s in range(LAYERS):
        decoder = np.zeros((64, LAYERS, D))
        for t in range(s, LAYERS):
            decoder[:, t] = weights[t][s]
        save_file({k: torch.tensor(v, dtype=torch.float32).contiguous() for k, v in
            {"w_enc": w[s].T.copy(), "w_dec": decoder, "b_enc": b[s], "b_dec": biases[s], "threshold": threshold[s],
             "affine_skip_connection": affine[s]}.items()}, folder / "explainer" / f"params_layer_{s}.safetensors")
    paths = {i: str(folder / "explainer" / f"params_layer_{i}.safetensors") for i in range(LAYERS)}
    paths[LAYERS] = ""
    clt = load_gemma_scope_2_clt(paths, dtype=torch.float64, device=torch.device("cpu"))
    clt.W_skip.data = clt.W_skip.data.double()
    record(clt, torch.tensor(x).double(), torch.tensor(y).float().double(), folder, name,
        made_by="tensors by the published names; codes and reconstructions by load_gemma_scope_2_clt with one path more than layers, since it leaves out the last")


published("circuit_tracer_clt"); relu_bfloat16(); gemma()
