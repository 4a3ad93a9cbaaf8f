"""The backend `kafka` of hs-connectors, used as that library's own launcher and trainer use a backend."""

from __future__ import annotations

import argparse
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

hs_connectors = pytest.importorskip("hs_connectors", reason="needs hs_connectors: pip install hs-connectors")
hs_backend = pytest.importorskip("plumbline_sae.hs_backend")

SAMPLE = Path(__file__).parent / "fixtures" / "engines" / "vllm.safetensors"
SITE = ["--plumbline-site", "one=blocks.1.hook_resid_post"]


def transfer_of(words: list[str], folder: Path) -> Any:
    backend = hs_connectors.HiddenStatesBackend.registry["kafka"]
    parser = argparse.ArgumentParser()
    backend.add_train_args(parser)
    return backend.from_train_args(parser.parse_args(["--hidden-states-path", str(folder), *words]), "data")


def test_what_a_training_is_handed_is_sent_and_handed_on(tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path / "cmpl-7.safetensors")
    shutil.copy(SAMPLE, tmp_path / "hs_3.safetensors")
    transfer = transfer_of([*SITE, "--plumbline-layers", "1,2"], tmp_path)
    producer = transfer._producer = Recorder()
    assert transfer.get_cached(3)["hidden_states"].shape == (5, 2, 6)
    assert producer.sent == [], "what was cached is not served now"
    sample = transfer.get_generated({"hidden_states_path": str(tmp_path / "cmpl-7.safetensors")})
    sent = producer.of("cmpl-7")
    assert (sent.site, sent.dtype, sent.headers["engine"]) == ("one", "BF16", "vllm")
    np.testing.assert_array_equal(sent.rows, sample["hidden_states"][:, 1].float().numpy())
    np.testing.assert_array_equal(sent.token_ids, sample["token_ids"].numpy())
    transfer.delete(str(tmp_path / "cmpl-7.safetensors"))
    assert not (tmp_path / "cmpl-7.safetensors").exists()
    with pytest.raises(FileNotFoundError):
        transfer.delete(str(tmp_path / "cmpl-7.safetensors"))


def test_what_cannot_be_sent_is_counted_and_handed_on(tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path / "r.safetensors")
    transfer = transfer_of(SITE, tmp_path)  # one layer is expected, the file has two
    transfer._producer = Recorder()
    assert transfer.get_generated({"handle": str(tmp_path / "r.safetensors")}) is not None
    assert transfer.failed == 1
    assert transfer.get_generated({"handle": str(tmp_path / "gone.safetensors")}) is None
    assert transfer.failed == 1


def test_a_data_loader_may_take_it_into_another_process(tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(transfer_of(SITE, tmp_path)))
    assert again._layer_ids == [2]


def test_vllm_is_started_as_for_files(tmp_path: Path) -> None:
    backend = hs_connectors.HiddenStatesBackend.registry["kafka"]
    parser = argparse.ArgumentParser()
    backend.add_launch_args(parser)
    config = backend.build_kv_transfer_config(parser.parse_args(["--hidden-states-path", str(tmp_path)]))
    assert config["kv_connector"] == "ExampleHiddenStatesConnector"
    assert config["kv_connector_extra_config"] == {"shared_storage_path": str(tmp_path)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the backend kafka sends no layer: write --plumbline-site SITE=HOOK"),
        (["--plumbline-site", "one"], "--plumbline-site one: expected SITE=HOOK"),
        ([*SITE, "--plumbline-layers", "3,6"], r"blocks\.1\.hook_resid_post is layer 2, not among \[3, 6\]"),
        ([*SITE, "--plumbline-kafka-property", "ssl"], "--plumbline-kafka-property ssl: expected KEY=VALUE"),
    ],
)
def test_a_wrong_option_is_told_before_the_training_begins(words: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        transfer_of(words, tmp_path)
