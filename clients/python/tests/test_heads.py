"""Heads of small transformers, initialised at random, beside the logits of the whole model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install transformers")

from plumbline_sae.heads import Head, export_head  # noqa: E402
from plumbline_sae.sites import Site, place_of, shown_place  # noqa: E402

TOKENS = [[3, 11, 12, 13, 14, 9, 5]]
RESIDUAL = "blocks.1.hook_resid_post"
TRANSCODER = Site("blocks.1.mlp.hook_in", targets="blocks.1.hook_mlp_out")


def gpt2() -> Any:
    torch.manual_seed(7)
    config = transformers.GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=3, n_head=4)
    return transformers.GPT2LMHeadModel(config).eval()


def llama() -> Any:
    torch.manual_seed(8)
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4
    )
    return transformers.LlamaForCausalLM(config).eval()


def recorded(model: Any, name: str) -> Any:
    """What a place gives in a run of the whole model."""
    place = shown_place(place_of(model, name), lambda: model(torch.tensor(TOKENS)))
    rows: list[Any] = []

    def keep(_: Any, inputs: Any, output: Any) -> None:
        rows.append((output[0] if isinstance(output, tuple) else output)[0].detach().clone())

    handle = place.module.register_forward_hook(keep)
    with torch.no_grad():
        model(torch.tensor(TOKENS))
    handle.remove()
    return rows[0]


@pytest.mark.parametrize("make", [gpt2, llama])
def test_a_head_gives_the_logits_of_the_whole_model(make: Any) -> None:
    model = make()
    with torch.no_grad():
        expected = model(torch.tensor(TOKENS)).logits[0]
        found = Head(model, RESIDUAL)(recorded(model, RESIDUAL))
        assert torch.allclose(expected, found, atol=1e-6)
        targets = recorded(model, "blocks.1.hook_mlp_out")
        residual = recorded(model, RESIDUAL) - targets
        assert torch.allclose(expected, Head(model, TRANSCODER)(targets, residual), atol=1e-5)


@pytest.mark.parametrize("make", [gpt2, llama])
def test_a_change_before_the_site_does_not_reach_the_head_and_one_at_the_site_does(make: Any) -> None:
    model = make()
    rows = recorded(model, RESIDUAL)
    with torch.no_grad():
        as_it_was = Head(model, RESIDUAL)(rows)
        first = next(place_of(model, "blocks.0.hook_resid_post").module.parameters())
        first.add_(1.0)
        assert torch.equal(as_it_was, Head(model, RESIDUAL)(rows))
        assert not torch.allclose(as_it_was, Head(model, RESIDUAL)(rows * 1.1), atol=1e-3)


def test_what_cannot_be_exported_is_refused_with_what_to_do() -> None:
    model = gpt2()
    with pytest.raises(ValueError, match=r"call model\.eval"):
        export_head(gpt2().train(), RESIDUAL, "head.onnx")
    with pytest.raises(ValueError, match=r"call model\.float"):
        export_head(gpt2().half(), RESIDUAL, "head.onnx")
    with pytest.raises(ValueError, match="expected the MLP's output"):
        Head(model, Site("blocks.1.mlp.hook_in", targets="blocks.1.hook_attn_out"))
    with pytest.raises(ValueError, match="targets and residual"):
        Head(model, TRANSCODER)(recorded(model, RESIDUAL))


@pytest.mark.parametrize("make", [gpt2, llama])
def test_an_exported_head_gives_the_logits_of_the_whole_model_at_any_length(make: Any, tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="needs onnxscript: pip install 'plumbline-sae[heads]'")
    onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'plumbline-sae[heads]'")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install onnxruntime")
    model = make()
    rows = recorded(model, RESIDUAL)
    targets = recorded(model, "blocks.1.hook_mlp_out")
    with torch.no_grad():
        expected = model(torch.tensor(TOKENS)).logits[0].numpy()
    sae = export_head(model, RESIDUAL, tmp_path / "sae.onnx")
    weights = onnx.load(sae).graph.initializer
    block = sum(parameter.numel() for parameter in place_of(model, RESIDUAL).module.parameters())
    whole = sum(parameter.numel() for parameter in model.parameters())
    found = sum(int(np.prod(tensor.dims)) for tensor in weights)
    assert found < whole - 1.5 * block, "the two blocks before the site are left out"
    session = runtime.InferenceSession(sae)
    found = session.run(["logits"], {"activations": rows.numpy()})[0]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    shorter = session.run(["logits"], {"activations": rows[:3].numpy()})[0]
    np.testing.assert_allclose(shorter, expected[:3], atol=1e-4)
    transcoder = runtime.InferenceSession(export_head(model, TRANSCODER, tmp_path / "transcoder.onnx"))
    inputs = {"targets": targets.numpy(), "residual": (rows - targets).numpy()}
    np.testing.assert_allclose(transcoder.run(["logits"], inputs)[0], expected, atol=1e-4)
