"""Swaps in the real `sae_lens`, on every kind of explainer that it saves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[saelens]'")
sae_lens = pytest.importorskip("sae_lens", reason="needs sae_lens: pip install 'plumbline-sae[saelens]'")

from plumbline_sae import Trained  # noqa: E402
from plumbline_sae.saelens import CannotSwapError, state_dict_update, swap_  # noqa: E402
from plumbline_sae.tensors import decode  # noqa: E402

FIXTURES = Path(__file__).parent / "fixtures" / "saelens"
TIED = {"matching_pursuit", "temporal"}
NOT_INFERENCE = {"checkpoint_batchtopk"}  # sae_lens itself refuses to load it
SIXTEEN_BIT = {"jumprelu_float16", "standard_bfloat16"}
ALL = sorted(path.name for path in FIXTURES.iterdir())
SWAPPABLE = [name for name in ALL if name not in TIED | NOT_INFERENCE]


def load(name: str) -> Any:
    return sae_lens.SAE.load_from_disk(FIXTURES / name, device="cpu")


def rows_of(name: str, sae: Any) -> Any:
    rows = decode((FIXTURES / name / "rows.safetensors").read_bytes())["activations"].values
    rows = torch.tensor(rows).to(sae.W_dec.dtype)
    return rows.unflatten(-1, (4, -1)) if name == "hook_z" else rows


def other_decoder(sae: Any) -> Trained:
    """A decoder some way off, as a refit is."""
    generator = np.random.default_rng(5)
    weights = sae.W_dec.detach().double().numpy()
    bias = sae.b_dec.detach().double().numpy()
    weights = weights + 0.1 * generator.standard_normal(weights.shape) * np.abs(weights).mean()
    bias = bias + 0.5 * generator.standard_normal(bias.shape)
    return Trained.of({"W_dec": weights.astype("<f4"), "b_dec": bias.astype("<f4")})


def codes_of(sae: Any, rows: Any) -> np.ndarray[Any, Any]:
    with torch.no_grad():
        return sae.encode(rows).double().numpy()


def assert_same_codes(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> None:
    largest = np.abs(before).max()
    np.testing.assert_array_equal(before != 0, after != 0)
    assert np.abs(before - after).max() <= 3e-6 * largest


def test_every_kind_is_here() -> None:
    assert len(ALL) == 38
    assert len(SWAPPABLE) == 35


@pytest.mark.parametrize("name", SWAPPABLE)
def test_a_swap_changes_the_decoder_and_no_code(name: str) -> None:
    sae = load(name)
    if name in SIXTEEN_BIT:
        sae.to(torch.float32)
    rows = rows_of(name, sae)
    decoder = other_decoder(sae)
    before = codes_of(sae, rows)
    swap_(sae, decoder)
    assert_same_codes(before, codes_of(sae, rows))
    np.testing.assert_array_equal(sae.W_dec.detach().numpy(), decoder.W_dec)
    np.testing.assert_array_equal(sae.b_dec.detach().numpy(), decoder.b_dec)


@pytest.mark.parametrize("name", SWAPPABLE)
def test_what_is_decoded_after_a_swap_is_the_codes_times_the_new_decoder(name: str) -> None:
    sae = load(name).to(torch.float64)
    if sae.cfg.normalize_activations in ("layer_norm", "constant_norm_rescale"):
        pytest.skip("the decoder writes into the normalised space; the codes are compared above")
    decoder = other_decoder(sae)
    rows = rows_of(name, sae)
    swap_(sae, decoder)
    codes = codes_of(sae, rows)
    assert decoder.W_dec is not None
    assert decoder.b_dec is not None
    expected = codes @ decoder.W_dec.astype(np.float64) + decoder.b_dec
    with torch.no_grad():
        decoded = sae.decode(torch.tensor(codes)).flatten(1).numpy()
    np.testing.assert_allclose(decoded, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["standard", "gated", "topk_rescaled", "layer_norm"])
def test_the_state_dict_update_is_what_a_swap_does(name: str) -> None:
    swapped, loaded = load(name), load(name)
    decoder = other_decoder(swapped)
    swap_(swapped, decoder)
    loaded.load_state_dict(state_dict_update(loaded, decoder), strict=False)
    for key, value in swapped.state_dict().items():
        assert torch.equal(value, loaded.state_dict()[key]), key


@pytest.mark.parametrize("name", ["standard", "gated", "jumprelu_b_dec", "topk_b_dec"])
def test_the_naive_update_would_have_switched_codes(name: str) -> None:
    sae = load(name)
    decoder = other_decoder(sae)
    rows = rows_of(name, sae)
    before = codes_of(sae, rows)
    naive = {"W_dec": torch.tensor(decoder.W_dec), "b_dec": torch.tensor(decoder.b_dec)}
    sae.load_state_dict(naive, strict=False)
    assert np.mean((before != 0) != (codes_of(sae, rows) != 0)) > 0.005


@pytest.mark.parametrize("name", ["standard", "gated", "jumprelu_b_dec", "abstopk"])
def test_the_trained_decoder_brings_the_encoder_back_to_the_last_bit(name: str) -> None:
    sae = load(name)
    before = {key: value.clone() for key, value in sae.state_dict().items()}
    trained = Trained.of(sae)
    for _ in range(20):
        swap_(sae, other_decoder(sae))
    swap_(sae, trained)
    for key, value in before.items():
        assert torch.equal(value, sae.state_dict()[key]), key


@pytest.mark.parametrize("name", ["topk_rescaled", "trained_topk"])
def test_the_trained_decoder_of_a_rescaled_sae_decodes_as_it_did(name: str) -> None:
    sae = load(name)
    trained, rows = Trained.of(sae), rows_of(name, sae)
    assert trained.identity == Trained.of(FIXTURES / name).identity
    before = sae(rows).detach().numpy()
    swap_(sae, other_decoder(sae))
    swap_(sae, trained)
    np.testing.assert_allclose(sae(rows).detach().numpy(), before, atol=1e-5 * np.abs(before).max())


def test_weights_that_were_loaded_meanwhile_are_the_ones_kept_still() -> None:
    sae = load("standard")
    swap_(sae, other_decoder(sae))
    with torch.no_grad():
        sae.b_enc.add_(0.5)
    rows = rows_of("standard", sae)
    before = codes_of(sae, rows)
    swap_(sae, other_decoder(sae))
    assert_same_codes(before, codes_of(sae, rows))


@pytest.mark.parametrize("name", sorted(TIED))
def test_a_decoder_that_is_also_the_encoder_is_refused(name: str) -> None:
    sae = load(name)
    with pytest.raises(CannotSwapError, match="also its encoder"):
        swap_(sae, other_decoder(sae))


@pytest.mark.parametrize("name", sorted(SIXTEEN_BIT))
def test_sixteen_bit_biases_are_refused_and_nothing_changes(name: str) -> None:
    sae = load(name)
    before = {key: value.clone() for key, value in sae.state_dict().items()}
    with pytest.raises(CannotSwapError, match=r"call sae\.to\(torch\.float32\) first"):
        swap_(sae, other_decoder(sae))
    for key, value in before.items():
        assert torch.equal(value, sae.state_dict()[key]), key


def test_another_shape_is_refused() -> None:
    sae = load("standard")
    decoder = other_decoder(load("standard_float64"))
    with pytest.raises(CannotSwapError, match=r"W_dec of the decoder is \[72, 40\], the explainer's \[96, 48\]"):
        swap_(sae, decoder)
