"""Pickles of the published kinds, converted, and read by the real `sae_lens`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[saelens]'")

from plumbline_sae.convert import convert  # noqa: E402
from plumbline_sae.tensors import decode  # noqa: E402

FIXTURES = Path(__file__).parent / "fixtures" / "pickles"
FACTS: dict[str, dict[str, Any]] = {"qwen_scope": {"kind": "qwen_scope", "k": 8}}
ALL = sorted(path.name for path in FIXTURES.iterdir())


def source_of(name: str) -> Path:
    folder = FIXTURES / name
    files = [file for file in folder.iterdir() if file.suffix in (".pt", ".pth")]
    return folder if name.startswith("dictionary_learning") else files[0]


@pytest.mark.parametrize("name", ALL)
def test_the_converted_folder_has_the_codes_of_the_library_that_made_the_pickle(name: str, tmp_path: Path) -> None:
    sae_lens = pytest.importorskip("sae_lens", reason="needs sae_lens: pip install 'plumbline-sae[saelens]'")
    folder = convert(source_of(name), tmp_path / "sae", **FACTS.get(name, {}))
    expected = {key: value.values for key, value in decode((FIXTURES / name / "io.safetensors").read_bytes()).items()}
    sae = sae_lens.SAE.load_from_disk(folder, device="cpu").to(torch.float64)
    rows = torch.tensor(expected["activations"]).double()
    if name == "connor_rob_hook_z":
        rows = rows.unflatten(-1, (4, -1))
    with torch.no_grad():
        codes = sae.encode(rows)
        decoded = sae.decode(codes).flatten(1).numpy()
    np.testing.assert_array_equal(codes.numpy() != 0, expected["codes"] != 0)
    assert np.abs(codes.numpy() - expected["codes"]).max() <= 1e-6 * np.abs(expected["codes"]).max()
    np.testing.assert_allclose(decoded, expected["reconstructions"], atol=1e-5 * np.abs(decoded).max())


def test_all_kinds_are_here() -> None:
    assert len(ALL) == 10


def test_a_plain_pair_of_linear_layers_is_deepseeks_or_the_new_autoencoder(tmp_path: Path) -> None:
    state = {
        "encoder.weight": torch.randn(6, 4),
        "encoder.bias": torch.randn(6),
        "decoder.weight": torch.randn(4, 6),
        "decoder.bias": torch.randn(4),
    }
    torch.save(state, tmp_path / "sae.pt")
    with pytest.raises(ValueError, match="fit more than one kind, or none; name the kind"):
        convert(tmp_path / "sae.pt", tmp_path / "none")
    for number, facts in enumerate(
        [{"kind": "deepseek_r1"}, {"kind": "dictionary_learning", "dict_class": "AutoEncoderNew"}]
    ):
        folder = convert(tmp_path / "sae.pt", tmp_path / str(number), hook_name="blocks.3.hook_resid_post", **facts)
        config = json.loads((folder / "cfg.json").read_text())
        assert (config["architecture"], config["apply_b_dec_to_input"]) == ("standard", False)
        assert config["metadata"]["hook_name"] == "blocks.3.hook_resid_post"
        written = decode((folder / "sae_weights.safetensors").read_bytes())
        np.testing.assert_array_equal(written["W_enc"].values, state["encoder.weight"].T.numpy())


def test_a_threshold_that_was_never_set_is_a_plain_relu(tmp_path: Path) -> None:
    state = {
        "encoder.weight": torch.randn(6, 4),
        "encoder.bias": torch.randn(6),
        "decoder.weight": torch.randn(4, 6),
        "b_dec": torch.randn(4),
        "k": torch.tensor(2),
        "threshold": torch.tensor(-1.0),
    }
    torch.save(state, tmp_path / "ae.pt")
    # With a byte order mark, as editors of Windows save it.
    (tmp_path / "config.json").write_text(json.dumps({"trainer": {"dict_class": "BatchTopKSAE"}}), encoding="utf-8-sig")
    folder = convert(tmp_path, tmp_path / "sae")
    assert json.loads((folder / "cfg.json").read_text())["architecture"] == "standard"


class Evil:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("evil"),))


def test_a_pickle_that_would_run_code_is_refused_and_runs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"encoder_linear.weight": Evil()}, tmp_path / "sae.pt")
    with pytest.raises(ValueError, match="cannot be read without running code"):
        convert("sae.pt", "out")
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"encoder_linear.weight": torch.zeros(4, 6)}, r"the encoder is \[6, 4\] and the decoder \[6, 4\]"),
        ({"encoder_linear.bias": torch.zeros(5)}, r"b_enc is \[5\], expected \[6\]"),
        ({"decoder_linear.bias": torch.full((4,), torch.nan)}, "b_dec holds a value that is not finite"),
        ({"decoder_linear.bias": None}, "expected a tensor or a key 'decoder_linear.bias' of a goodfire explainer"),
    ],
)
def test_what_is_no_explainer_is_refused(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    state = {
        "encoder_linear.weight": torch.zeros(6, 4),
        "encoder_linear.bias": torch.zeros(6),
        "decoder_linear.weight": torch.zeros(4, 6),
        "decoder_linear.bias": torch.zeros(4),
    }
    state.update(change)
    torch.save({name: tensor for name, tensor in state.items() if tensor is not None}, tmp_path / "sae.pt")
    with pytest.raises(ValueError, match=reason):
        convert(tmp_path / "sae.pt", tmp_path / "out")


def test_qwen_scope_asks_for_its_k_and_a_full_folder_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"does not say its k: give k=\.\.\."):
        convert(source_of("qwen_scope"), tmp_path / "out", kind="qwen_scope")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ValueError, match="is not empty"):
        convert(source_of("goodfire"), tmp_path / "full")
