"""Small samples of what engines write, in their shapes and types."""

from __future__ import annotations

import fcntl
import itertools
import json
import re
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

from plumbline_sae.coverage import Missing
from plumbline_sae.engines import (
    VllmFiles,
    entering_layer,
    leaving_layer,
    rows_of_layer,
    send_interp,
    send_lens,
    sglang_rows,
    vllm_config,
)
from plumbline_sae.fp8 import _VALUES
from plumbline_sae.tensors import Tensor, decode, encode, tensor_of

RECORDED = Path(__file__).parent / "fixtures" / "engines"
"""What libraries wrote by themselves; `make.py` beside the files says how."""

OUTPUTS = {"zero": "blocks.0.hook_resid_post", "one": "blocks.1.hook_resid_post"}
HOOKS = {"five": "blocks.5.hook_resid_post", "two": "blocks.2.hook_resid_pre"}
TOKENS, LAYERS, HIDDEN = 4, 2, 3


def bf16(values: Any) -> Tensor:
    return Tensor("BF16", (np.asarray(values, dtype="float32").view("uint32") >> 16).astype("uint16"))


def sample(tokens: int = TOKENS, ids: int = TOKENS) -> dict[str, Tensor]:
    """Token t of the layer at index l is filled with 10 l + t."""
    layer, token = np.meshgrid(np.arange(LAYERS), np.arange(tokens))
    states = np.repeat((10 * layer + token)[:, :, None], HIDDEN, axis=2)
    return {"hidden_states": bf16(states), "token_ids": tensor_of(np.arange(100, 100 + ids))}


def test_a_place_is_settled_by_its_name() -> None:
    assert entering_layer("blocks.5.hook_resid_post") == entering_layer("blocks.6.hook_resid_pre") == 6
    assert leaving_layer("blocks.5.hook_resid_post") == leaving_layer("blocks.6.hook_resid_pre") == 5
    config = vllm_config(HOOKS, "/dev/shm/x")
    ids = config["speculative_config"]["draft_model_config"]["hf_config"]["eagle_aux_hidden_state_layer_ids"]
    assert ids == [2, 6]
    assert config["kv_transfer_config"]["kv_connector_extra_config"] == {"shared_storage_path": "/dev/shm/x"}
    with pytest.raises(ValueError, match=r"expected blocks\.N\.hook_resid_pre"):
        entering_layer("blocks.5.hook_mlp_out")
    with pytest.raises(ValueError, match="vllm-lens cannot give it"):
        leaving_layer("blocks.0.hook_resid_pre")


def test_a_file_of_vllm_is_sent_layer_by_layer_and_removed(tmp_path: Path) -> None:
    (tmp_path / "cmpl-7.safetensors").write_bytes(encode(sample()))
    (tmp_path / "cmpl-7.safetensors.lock").touch()
    producer = Recorder()
    files = VllmFiles(tmp_path, HOOKS, producer)
    assert files.poll() == 1
    assert {sent.site for sent in producer.sent} == {"five", "two"}
    for sent in producer.sent:
        first = 10 if sent.site == "five" else 0
        assert sent.request == "cmpl-7"
        assert sent.dtype == "BF16"
        assert sent.headers["engine"] == "vllm"
        np.testing.assert_array_equal(sent.rows[:, 0], np.arange(first, first + TOKENS))
        np.testing.assert_array_equal(sent.token_ids, [100, 101, 102, 103])
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_left_alone_while_its_writer_holds_the_lock(tmp_path: Path) -> None:
    file = tmp_path / "r.safetensors"
    lock = tmp_path / "r.safetensors.lock"
    file.write_bytes(encode(sample())[:40])
    producer = Recorder()
    files = VllmFiles(tmp_path, HOOKS, producer)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert files.poll() == 0
        file.write_bytes(encode(sample()))
    assert files.poll() == 1
    assert len(producer.sent) == 2
    assert files.stats.refused == 0


def test_a_file_without_a_lock_may_still_be_written(tmp_path: Path) -> None:
    file = tmp_path / "hs_3.safetensors"
    file.write_bytes(encode(sample())[:40])
    producer = Recorder()
    files = VllmFiles(tmp_path, HOOKS, producer)
    assert files.poll() == 0
    file.write_bytes(encode(sample()))
    assert files.poll() == 1
    assert files.stats.sent == 1


@pytest.mark.parametrize(("shorter", "ids", "cached"), [("tail", [102, 103], 2), ("head", [100, 101], 0)])
def test_token_ids_longer_than_the_rows_are_cut(tmp_path: Path, shorter: Any, ids: list[int], cached: int) -> None:
    (tmp_path / "r.safetensors").write_bytes(encode(sample(tokens=2, ids=4)))
    producer = Recorder()
    VllmFiles(tmp_path, HOOKS, producer, shorter=shorter).poll()
    np.testing.assert_array_equal(producer.sent[0].token_ids, ids)
    assert producer.missing == {"five": Missing(cached=cached), "two": Missing(cached=cached)}


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"activations": bf16([[1.0]])}, r"r\.safetensors: holds \['activations'\], expected hidden_states"),
        ({"hidden_states": bf16(np.ones((4, 3, 3)))}, r"are \[4, 3, 3\], expected 2 layers with tokens first"),
        ({"hidden_states": bf16(np.ones((4, 3)))}, r"are BF16 \[4, 3\], expected floating point of three axes"),
        (sample(tokens=5), r"are \[5, 2, 3\], expected 2 layers and at most 4 tokens with tokens first"),
    ],
)
def test_a_file_of_something_else_is_refused_and_removed(tmp_path: Path, tensors: Any, reason: str) -> None:
    (tmp_path / "r.safetensors").write_bytes(encode(tensors))
    (tmp_path / "r.safetensors.lock").touch()
    files = VllmFiles(tmp_path, HOOKS, Recorder())
    assert files.poll() == 1
    assert files.stats.refused == 1
    assert re.search(reason, str(files.stats.last_error)), files.stats.last_error
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_kept_are_sent_once(tmp_path: Path) -> None:
    (tmp_path / "r.safetensors").write_bytes(encode(sample()))
    producer = Recorder()
    files = VllmFiles(tmp_path, HOOKS, producer, delete=False)
    assert [files.poll(), files.poll()] == [1, 0]
    assert len(producer.sent) == 2


def test_running_ends_when_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "r.safetensors").write_bytes(encode(sample()))
    stop = threading.Event()

    class Stopping(Recorder):
        def send(self, *arguments: Any, **options: Any) -> bool:
            stop.set()
            return super().send(*arguments, **options)

    VllmFiles(tmp_path, HOOKS, Stopping()).run(stop, interval=0.01)
    assert not list(tmp_path.iterdir())


def test_layers_the_server_was_started_with_may_be_more() -> None:
    files = VllmFiles(".", HOOKS, Recorder(), layer_ids=[6, 2, 9])
    assert files._sender._places == {"five": 0, "two": 1}
    with pytest.raises(ValueError, match=r"site two: blocks\.2\.hook_resid_pre is layer 2, not among \[6\]"):
        VllmFiles(".", HOOKS, Recorder(), layer_ids=[6])


def test_vllm_lens_has_layers_first_and_counts_outputs() -> None:
    stream = np.arange(2 * 4 * 3, dtype="float16").reshape(2, 4, 3)
    producer = Recorder()
    assert send_lens(producer, {"five": "blocks.5.hook_resid_post"}, [9, 5], "r", stream, token_ids=[1, 2, 3, 4])
    np.testing.assert_array_equal(producer.of("r").rows, stream[1])
    with pytest.raises(ValueError, match=r"site five: block 5 is not among those that were asked for, \[6\]"):
        send_lens(producer, {"five": "blocks.5.hook_resid_post"}, [6], "r", stream[:1])


def recorded(name: str, tmp_path: Path) -> Recorder:
    """Returns what came of a recorded file of two layers."""
    shutil.copy(RECORDED / name, tmp_path / "cmpl-1.safetensors")
    producer = Recorder()
    files = VllmFiles(tmp_path, OUTPUTS, producer)
    assert files.poll() == 1
    assert files.stats.refused == 0, files.stats.last_error
    return producer


def truth() -> dict[str, Any]:
    """Returns the rows of both layers as interp-engine's server wrote them in float32."""
    activations = json.loads((RECORDED / "interp_engine_float32.json").read_text())["activations"]
    producer = Recorder()
    assert send_interp(producer, OUTPUTS, "r", activations)
    return {sent.site: sent.rows for sent in producer.sent}


def test_the_recorded_formats_bring_the_same_rows_of_the_same_layers(tmp_path: Path) -> None:
    rows = truth()
    assert abs(rows["one"]).max() > 10 > abs(rows["zero"]).max() > 1
    for sent in recorded("vllm.safetensors", tmp_path).sent:
        assert sent.dtype == "BF16"
        np.testing.assert_allclose(sent.rows, rows[sent.site], rtol=2**-8)
        np.testing.assert_array_equal(sent.token_ids, [101, 7, 8, 9, 102])
    activations = json.loads((RECORDED / "interp_engine_bfloat16.json").read_text())["activations"]
    producer = Recorder()
    assert send_interp(producer, OUTPUTS, "r", activations, token_ids=[101, 7, 8, 9, 102, 103])
    for sent in producer.sent:
        assert (sent.dtype, sent.headers["engine"]) == ("BF16", "interp-engine")
        np.testing.assert_allclose(sent.rows, rows[sent.site], rtol=2**-8)
        np.testing.assert_array_equal(sent.token_ids, [101, 7, 8, 9, 102])


def test_the_records_of_a_request_have_one_time_at_all_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(time=itertools.count(1_700_000_000).__next__)
    monkeypatch.setattr("plumbline_sae.layers.time", clock)
    assert [sent.timestamp_ms for sent in recorded("vllm.safetensors", tmp_path).sent] == [1_700_000_000_000] * 2
    monkeypatch.setattr("plumbline_sae.engines.time", clock)
    producer = Recorder()
    rows = np.ones((4, 3), dtype="float32")
    assert send_interp(producer, OUTPUTS, "r", {"resid_post.0": rows, "resid_post.1": rows})
    assert [sent.timestamp_ms for sent in producer.sent] == [1_700_000_001_000] * 2
    producer = Recorder()
    assert send_lens(producer, OUTPUTS, [0, 1], "r", np.ones((2, 4, 3), dtype="float32"))
    assert [sent.timestamp_ms for sent in producer.sent] == [1_700_000_002_000] * 2


def test_eight_bits_with_a_scale_a_token_are_widened(tmp_path: Path) -> None:
    blob = decode((RECORDED / "hs_connectors_fp8.safetensors").read_bytes())
    assert blob["hidden_states"].dtype == "F8_E4M3"
    rows, producer = truth(), recorded("hs_connectors_fp8.safetensors", tmp_path)
    largest = np.maximum(abs(rows["zero"]).max(1), abs(rows["one"]).max(1))[:, None]
    for sent in producer.sent:
        assert sent.dtype == "F32"
        # Three bits of mantissa; below 2^-6 of 448, one step.
        assert (abs(sent.rows - rows[sent.site]) <= abs(rows[sent.site]) / 15 + largest * 2**-9 / 448 * 1.01).all()
    (tmp_path / "r.safetensors").write_bytes(encode({"hidden_states": blob["hidden_states"]}))
    files = VllmFiles(tmp_path, OUTPUTS, Recorder())
    (tmp_path / "r.safetensors.lock").touch()
    files.poll()
    assert "hidden_states_scales is missing, expected F32 [5, 1, 1]" in str(files.stats.last_error)


def test_the_values_of_eight_bits_are_torchs() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    patterns = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float().numpy()
    np.testing.assert_array_equal(_VALUES, patterns)


@pytest.mark.parametrize(
    ("activations", "reason"),
    [
        ({"resid_post.5": np.ones((4, 3))}, r"site zero: resid_pre\.1 or resid_post\.0 is not among what was captured"),
        ({"resid_post.0": {"dtype": "int8", "shape": [1, 1], "data": "AA=="}}, "no rows of interp-engine"),
        ({"resid_post.0": {"dtype": "float32", "shape": [2, 2], "data": "AAAA"}}, "no rows of interp-engine"),
    ],
)
def test_what_interp_engine_did_not_capture_is_refused(activations: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        send_interp(Recorder(), {"zero": "blocks.0.hook_resid_post"}, "r", activations)


def test_what_a_block_leaves_is_what_enters_the_next_one() -> None:
    producer = Recorder()
    rows = np.ones((4, 3), dtype="float32")
    assert send_interp(producer, {"zero": "blocks.0.hook_resid_post"}, "r", {"resid_pre.1": rows})
    np.testing.assert_array_equal(producer.of("r").rows, rows)


def test_either_order_of_axes_is_told_from_the_sizes_and_refused_where_both_fit() -> None:
    states = np.arange(4 * 2 * 3, dtype="float32").reshape(4, 2, 3)
    np.testing.assert_array_equal(rows_of_layer(states, 2, 1, tokens=None, axes=None).values, states[:, 1])
    turned = states.transpose(1, 0, 2)
    np.testing.assert_array_equal(rows_of_layer(turned, 2, 1, tokens=None, axes=None).values, states[:, 1])
    square = np.ones((2, 2, 3), dtype="float32")
    with pytest.raises(ValueError, match="2 layers fit either of the first two axes; say axes="):
        rows_of_layer(square, 2, 0, tokens=2, axes=None)
    assert rows_of_layer(square, 2, 0, tokens=2, axes="layers_first").shape == (2, 3)


def test_sglang_gives_the_prompt_and_then_one_row_a_token() -> None:
    rows = sglang_rows([[[1, 2], [3, 4]], [5, 6], [7, 8]])
    np.testing.assert_array_equal(rows, [[1, 2], [3, 4], [5, 6], [7, 8]])
    with pytest.raises(ValueError, match=r"widths \[1, 2\]"):
        sglang_rows([[[1, 2]], [5]])
