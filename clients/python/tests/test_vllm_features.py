"""Codes and reconstructions of served rows, beside those of sums written out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_vllm import WIDTH, Base, Engine, Part, Planned, expected, new, vllm_config

import plumbline_sae.vllm.worker as workers
from plumbline_sae import Decoder
from plumbline_sae.producer import Producer, request_tensors
from plumbline_sae.tensors import Array, encode, tensor_of

FEATURES = 12


def sae(folder: Path, **config: Any) -> dict[str, Array]:
    """Writes an SAE; returns its weights."""
    generator = np.random.default_rng(3)
    weights = {
        "W_enc": generator.standard_normal((WIDTH, FEATURES)),
        "b_enc": generator.standard_normal(FEATURES),
        "W_dec": generator.standard_normal((FEATURES, WIDTH)),
        "b_dec": generator.standard_normal(WIDTH),
    }
    if config.get("architecture") == "jumprelu":
        weights["threshold"] = np.full(FEATURES, 2.0)
    if "scaling" in config:
        weights["scaling_factor"] = np.full(FEATURES, config["scaling"])
    weights = {name: values.astype("float32") for name, values in weights.items()}
    folder.mkdir(exist_ok=True)
    (folder / "cfg.json").write_text(json.dumps({"normalize_activations": "none", **config}))
    blob = encode({name: tensor_of(values) for name, values in weights.items()})
    (folder / "sae_weights.safetensors").write_bytes(blob)
    return weights


def codes_of(rows: Array, weights: dict[str, Array], config: dict[str, Any]) -> Array:
    shift = weights["b_dec"] if config.get("apply_b_dec_to_input", True) else 0.0
    codes = (rows - shift) @ weights["W_enc"] + weights["b_enc"]
    codes = np.where(codes > weights["threshold"], codes, 0) if "threshold" in weights else np.maximum(codes, 0)
    k = config.get("activation_fn_kwargs", config).get("k")
    if k is not None:
        least = -np.sort(-codes, axis=1)[:, k - 1 : k]
        codes = np.where(codes >= least, codes, 0)
    return codes


@pytest.mark.parametrize(
    "config",
    [
        {"architecture": "standard", "apply_b_dec_to_input": True},
        {"architecture": "jumprelu", "apply_b_dec_to_input": False},
        {"architecture": "topk", "k": 3},
        {"architecture": "standard", "activation_fn_str": "topk", "activation_fn_kwargs": {"k": 3}},
        {"normalize_activations": False},
    ],
)
def test_codes_and_reconstructions_are_those_of_the_sae(config: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    from plumbline_sae.vllm import FeatureTap

    weights = sae(tmp_path, **config)
    rows = np.random.default_rng(5).standard_normal((40, WIDTH)).astype("float32")
    tap = FeatureTap(tmp_path, 5, "cpu")
    read = {name: tensor.values for name, tensor in tap.read(rows).items()}
    codes = codes_of(rows, weights, config)
    np.testing.assert_allclose(read["reconstructions"], codes @ weights["W_dec"] + weights["b_dec"], atol=1e-5)
    for row, (indices, values) in enumerate(zip(read["code_indices"], read["code_values"], strict=True)):
        top = np.argsort(-codes[row])[:5]
        kept = [feature if codes[row, feature] > 0 else -1 for feature in top]
        assert indices.tolist() == kept
        np.testing.assert_allclose(values, codes[row, top], atol=1e-5)
    swapped = Decoder("a", 2, "adapted", 2 * weights["W_dec"], weights["b_dec"] + 1, {}, "", "")
    tap.swap(swapped)
    after = {name: tensor.values for name, tensor in tap.read(rows).items()}
    np.testing.assert_array_equal(after["code_values"], read["code_values"])
    np.testing.assert_allclose(after["reconstructions"], codes @ swapped.W_dec + swapped.b_dec, atol=1e-5)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"architecture": "gated"}, "architecture gated, expected one of standard"),
        ({"architecture": "topk", "k": 3, "rescale_acts_by_decoder_norm": True}, "fold it into the weights"),
        ({"architecture": "standard", "normalize_activations": "layer_norm"}, "normalize_activations is 'layer_norm'"),
        ({"architecture": "topk"}, "k = 100, expected at most d_sae = 12"),  # SAELens' own default
        ({"finetuning_scaling_factor": True}, "finetuning_scaling_factor is True"),
        ({"scaling": 1.5}, "tensor scaling_factor is not 1 throughout"),
    ],
)
def test_an_sae_that_cannot_be_read_is_refused(config: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    from plumbline_sae.vllm import FeatureTap

    sae(tmp_path, **config)
    with pytest.raises(ValueError, match=sentence):
        FeatureTap(tmp_path, 5, "cpu")


def test_a_request_carries_what_was_read_of_its_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    weights = sae(tmp_path, architecture="standard")
    records: list[dict[str, Any]] = []

    class Kept(Producer):
        def _produce(self, site: str, request: str, tensors: Any, *others: Any) -> bool:
            records.append({name: tensor.values for name, tensor in tensors.items()})
            return True

    monkeypatch.setattr(workers, "Producer", Kept)
    settings = {
        "kafka": {"bootstrap.servers": "127.0.0.1:1", "log_level": 0},
        "sites": {"a": "blocks.0.hook_resid_post"},
        "features": {"a": {"path": str(tmp_path), "top": 2}},
        "special_ids": [9],
    }
    worker = workers.worker_class(Base, Engine())(vllm_config(settings))
    worker.load_model()
    worker.execute_model(Planned([Part("x", 0, [9, 6, 7])], new=[new("x")]).scheduled())
    worker.execute_model(Planned([Part("x", 3, [8])]).scheduled())
    worker.shutdown()
    assert worker.plumbline.stats.failed == 0, worker.plumbline.stats.last_error
    (record,) = records
    rows = expected([9, 6, 7, 8], 0, 1)[1:]
    codes = codes_of(rows, weights, {})
    np.testing.assert_array_equal(record["activations"], rows)
    np.testing.assert_allclose(record["reconstructions"], codes @ weights["W_dec"] + weights["b_dec"], atol=1e-4)
    np.testing.assert_allclose(record["code_values"], -np.sort(-codes, axis=1)[:, :2], atol=1e-4)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reconstructions": np.ones((3, 5), "float32")}, "not as what they are of"),
        ({"codes": (np.ones((3, 2), "int64"), np.ones((3, 1), "float32"))}, "codes: expected features and values"),
        ({"codes": (np.ones((2, 2), "int64"), np.ones((2, 2), "float32"))}, "code_indices has 2 entries"),
    ],
)
def test_codes_that_fit_no_row_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        request_tensors(np.ones((3, 4), "float32"), None, None, None, **options)
