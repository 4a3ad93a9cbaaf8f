"""Golden values of OpenMOSS' crosscoders and cross-layer transcoders, from its own classes in float64.

    PYTHONPATH=WHERE/llamascopium/IS python make_openmoss.py OUT

llamascopium 2.0.0b34; torch 2.15.0, numpy 2.4.6, safetensors 0.8.0. Weights are float32 as save_pretrained wrote them, read back with
from_local and computed in float64. Rows go through normalize_activations, reconstructions back through the scales, as the library does.
"""
import json, sys
from pathlib import Path
import numpy as np
import torch
from safetensors.torch import save_file
from llamascopium.models.clt import CLTConfig, CrossLayerTranscoder
from llamascopium.models.crosscoder import Crosscoder, CrosscoderConfig
from llamascopium.models.sparse_dictionary import SparseDictionary

OUT = Path(sys.argv[1])
ROWS, D, K, NUMBERS = 48, 16, 2, [5, 9, 12]
LAYERS = len(NUMBERS)


def rows(rng):
    """Rows of each layer: the one before, and something new; their lengths grow."""
    directions = rng.normal(size=(24, D)) / np.sqrt(D)
    state, found = np.broadcast_to(rng.normal(size=D), (ROWS, D)).copy(), []
    for layer in range(LAYERS):
        strengths = np.maximum(rng.normal(size=(ROWS, 24)) - 0.8, 0)
        state = state * 0.8 + strengths @ directions * 3 * (layer + 1) + 0.05 * rng.normal(size=(ROWS, D))
        found.append(state.astype(np.float32))
    return found


def fill(model, rng, threshold):
    """Encoder weights, biases and thresholds by chance."""
    with torch.no_grad():
        model.W_E.copy_(torch.tensor(rng.normal(size=model.W_E.shape) / np.sqrt(D)))
        model.b_E.copy_(torch.tensor(rng.normal(size=model.b_E.shape) * 0.3 - 0.3))
        if threshold:
            model.activation_function.log_jumprelu_threshold.copy_(
                torch.tensor(rng.uniform(-4, -1.0, size=model.activation_function.log_jumprelu_threshold.shape)))


def case(name, config, model_class, hooks_in, hooks_out, y_of, spread):
    folder = OUT / name
    (folder / "explainer").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(len(name))
    x = rows(rng)
    y = y_of(rng, x)
    model = model_class(config)
    fill(model, rng, config.act_fn == "jumprelu")
    batch = {h: torch.tensor(v) for h, v in zip(hooks_in, x)} | {h: torch.tensor(v) for h, v in zip(hooks_out, y)}
    if config.norm_activation == "dataset-wise":
        model.set_dataset_average_activation_norm({h: float(v.double().norm(dim=-1).mean()) for h, v in batch.items()})
    spread(model, rng, batch)
    (folder / "explainer" / "config.json").write_text(json.dumps(config.model_dump(), indent=2) + "\n")
    model.save_pretrained(folder / "explainer")
    back = SparseDictionary.from_local(str(folder / "explainer")).double()
    if config.act_fn == "jumprelu":
        back.activation_function.dtype = torch.float64
    back.cfg.dtype = torch.float64
    wide = {h: v.double() for h, v in batch.items()}
    normed, scales = back.normalize_activations(wide, return_scale_factor=True)
    with torch.no_grad():
        inputs, _, _ = back.prepare_input(normed)
        codes = back.encode(inputs)
        decoded = back.decode(codes)
    tensors, fvu, active = {}, {}, {}
    for i, number in enumerate(NUMBERS):
        made = decoded[:, i] if model_class is Crosscoder else decoded[i]
        made = made / scales[hooks_out[i]]
        tensors[f"activations.{number}"] = torch.tensor(x[i])
        if model_class is not Crosscoder:
            tensors[f"targets.{number}"] = torch.tensor(y[i])
        tensors[f"codes.{number}"] = codes[:, i].contiguous()
        tensors[f"reconstructions.{number}"] = made.contiguous()
        target = torch.tensor(y[i]).double()
        fvu[str(number)] = float(((target - made) ** 2).sum() / ((target - target.mean(0)) ** 2).sum())
        active[str(number)] = round(float((codes[:, i] != 0).sum(1).double().mean()), 2)
    save_file(tensors, folder / "blocks.safetensors")
    (folder / "blocks.json").write_text(json.dumps({"name": name, "rows": ROWS, "d_sae": int(codes.shape[-1]), "active_per_row": active,
        "fvu": fvu, "library": "llamascopium 2.0.0b34", "made_by": "save_pretrained, read with from_local"}, indent=2) + "\n")
    print(name, fvu, active)


def ridge(z, y, penalty=4.0):
    mean_z, mean_y = z.mean(0), y.mean(0)
    zc = z - mean_z
    w = np.linalg.solve(zc.T @ zc + penalty * np.eye(z.shape[1]), zc.T @ (y - mean_y))
    return w, mean_y - mean_z @ w


def spread_crosscoder(model, rng, batch):
    """Decoders by ridge from the codes of relu, lengths of their rows spread."""
    normed = {h: v.double().numpy() for h, v in model.normalize_activations(batch).items()}
    pre = sum(normed[h] @ model.W_E[i].detach().double().numpy() + model.b_E[i].detach().double().numpy() for i, h in enumerate(model.cfg.hook_points))
    with torch.no_grad():
        for i, h in enumerate(model.cfg.hook_points):
            w, b = ridge(np.maximum(pre, 0), normed[h])
            w = w + 0.02 * rng.normal(size=w.shape) * 10 ** rng.uniform(-1, 0, size=(len(w), 1))
            model.W_D[i].copy_(torch.tensor(w)); model.b_D[i].copy_(torch.tensor(b))


def spread_clt(model, rng, batch):
    normed = {h: v.double().numpy() for h, v in model.normalize_activations(batch).items()}
    pre = [normed[h] @ model.W_E[i].detach().double().numpy() + model.b_E[i].detach().double().numpy() for i, h in enumerate(model.cfg.hook_points_in)]
    with torch.no_grad():
        for t, h in enumerate(model.cfg.hook_points_out):
            w, b = ridge(np.concatenate([np.maximum(p, 0) for p in pre[: t + 1]], 1), normed[h])
            w = w + 0.02 * rng.normal(size=w.shape) * 10 ** rng.uniform(-1, 0, size=(len(w), 1))
            model.W_D[t].copy_(torch.tensor(w.reshape(t + 1, -1, D))); model.b_D[t].copy_(torch.tensor(b))


def same(rng, x):
    return x


def made(rng, x):
    return [(np.tanh(sum(x[: i + 1])) * 2 + 0.05 * rng.normal(size=x[0].shape)).astype(np.float32) for i in range(LAYERS)]


def crosscoder(name, **keys):
    hooks = [f"blocks.{n}.hook_resid_post" for n in NUMBERS]
    case(name, CrosscoderConfig(d_model=D, expansion_factor=K, hook_points=hooks, **keys), Crosscoder, hooks, hooks, same, spread_crosscoder)


def clt(name, **keys):
    hooks_in = [f"blocks.{n}.hook_resid_mid" for n in NUMBERS]
    hooks_out = [f"blocks.{n}.hook_mlp_out" for n in NUMBERS]
    case(name, CLTConfig(d_model=D, expansion_factor=K, hook_points_in=hooks_in, hook_points_out=hooks_out, **keys), CrossLayerTranscoder,
        hooks_in, hooks_out, made, spread_clt)


crosscoder("openmoss_crosscoder_jumprelu", act_fn="jumprelu")
crosscoder("openmoss_crosscoder_relu", act_fn="relu", norm_activation="inference")
crosscoder("openmoss_crosscoder_topk", act_fn="topk", top_k=6)
clt("openmoss_clt_jumprelu", act_fn="jumprelu")
clt("openmoss_clt_topk", act_fn="topk", top_k=4, norm_activation="inference")
