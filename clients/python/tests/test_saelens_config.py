"""What `cfg.json` says of the arithmetic, by the rules that the monitor's reader has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plumbline_sae.saelens_config import SaeLensConfig

FIXTURES = Path(__file__).parent / "fixtures" / "saelens"
SIX = {"metadata": {"sae_lens_version": "6.1.0"}}
OLD_TOPK = {"activation_fn_str": "topk", "activation_fn_kwargs": {"k": 7}}


def read(folder: Path, **given: Any) -> SaeLensConfig:
    (folder / "cfg.json").write_text(json.dumps(given))
    return SaeLensConfig.read(folder)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, SaeLensConfig("standard", 0, False, True, "none", False)),
        ({"architecture": "topk"}, SaeLensConfig("topk", 100, False, True, "none", False)),
        ({"architecture": "standard", **OLD_TOPK}, SaeLensConfig("topk", 7, False, True, "none", False)),
        ({**OLD_TOPK, "sae_lens_version": "5.10"}, SaeLensConfig("topk", 7, False, True, "none", False)),
        ({**OLD_TOPK, **SIX}, SaeLensConfig("standard", 0, False, True, "none", False)),
        ({"architecture": "transcoder"}, SaeLensConfig("transcoder", 0, False, False, "none", False)),
        (
            {"sae": {"d_in": 4, "architecture": "abstopk", "k": 2, "rescale_acts_by_decoder_norm": True}},
            SaeLensConfig("abstopk", 2, True, True, "none", False),
        ),
        ({"rescale_acts_by_decoder_norm": True}, SaeLensConfig("standard", 0, False, True, "none", False)),
        ({"normalize_activations": False}, SaeLensConfig("standard", 0, False, True, "none", False)),
        (
            {"normalize_activations": True, "finetuning_scaling_factor": True, "apply_b_dec_to_input": False},
            SaeLensConfig("standard", 0, False, False, "expected_average_only_in", True),
        ),
    ],
)
def test_what_is_absent_has_the_value_that_sae_lens_gives_it(
    given: dict[str, Any], expected: SaeLensConfig, tmp_path: Path
) -> None:
    assert read(tmp_path, **given) == expected


def test_every_folder_that_sae_lens_wrote_is_read() -> None:
    found = {folder.name: SaeLensConfig.read(folder) for folder in FIXTURES.iterdir()}
    assert len(found) == 38
    assert {name for name, config in found.items() if config.is_rescaled} == {"topk_rescaled", "trained_topk"}
    assert {config.k for name, config in found.items() if config.architecture == "topk"} == {5, 8}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"architecture": 3}, "architecture = 3: expected a string"),
        ({"apply_b_dec_to_input": "no"}, "apply_b_dec_to_input = no: expected true or false"),
        ({"activation_fn": "tanh-relu"}, "activation_fn 'tanh-relu': expected relu, topk or none for standard"),
        ({"architecture": "topk", "k": True}, "k = True: expected a whole number from 1 on"),
    ],
)
def test_what_means_nothing_is_refused(given: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        read(tmp_path, **given)
