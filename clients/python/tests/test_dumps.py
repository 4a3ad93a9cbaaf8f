"""Recordings: what is written is what the product reads."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plumbline_sae.dumps import Recording, Request, baseline, read_dump, write_dump
from plumbline_sae.tensors import Tensor, decode, encode, tensor_of


def requests(count: int = 7) -> list[Request]:
    return [
        Request(
            np.full((i % 3 + 1, 4), i, dtype="float16"), np.full((i % 3 + 1, 2), -i, dtype="float32"), [i] * (i % 3 + 1)
        )
        for i in range(count)
    ]


def test_requests_come_back_as_they_went_in_shards(tmp_path: Path) -> None:
    files = write_dump(tmp_path / "day.safetensors", requests(), shard_rows=5)
    assert [file.name for file in files] == [f"day-{i:05d}.safetensors" for i in range(4)]
    found = list(read_dump(*files))
    assert len(found) == 7
    for sent, read in zip(requests(), found, strict=True):
        np.testing.assert_array_equal(read.activations, sent.activations)
        np.testing.assert_array_equal(read.targets, sent.targets)
        np.testing.assert_array_equal(read.token_ids, sent.token_ids)
    assert all(len(decode(file.read_bytes())["activations"].values) <= 5 for file in files)


def test_what_fits_in_one_file_has_its_name_and_offsets(tmp_path: Path) -> None:
    (file,) = write_dump(tmp_path / "day.safetensors", requests())
    assert file.name == "day.safetensors"
    tensors = decode(file.read_bytes())
    assert tensors["activations"].dtype == "F16"
    assert tensors["request_offsets"].values.tolist() == [0, 1, 3, 6, 7, 9, 12, 13]


def test_requests_without_rows_are_left_out_and_bfloat16_is_kept(tmp_path: Path) -> None:
    bits = Tensor("BF16", np.array([[0x3F80, 0x4000]], dtype="uint16"))
    (file,) = write_dump(tmp_path / "d.safetensors", [Request(bits.with_values(bits.values[:0])), Request(bits)])
    assert decode(file.read_bytes())["activations"].dtype == "BF16"
    np.testing.assert_array_equal(next(iter(read_dump(file))).activations, [[1.0, 2.0]])


def test_a_file_without_offsets_is_read_in_requests_of_128_rows(tmp_path: Path) -> None:
    file = tmp_path / "d.safetensors"
    file.write_bytes(encode({"hidden_states": tensor_of(np.zeros((300, 2), dtype="float32"))}))
    assert [len(request.activations) for request in read_dump(file)] == [128, 128, 44]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([], "no request has a row"),
        ([Request(np.zeros(3))], r"request 0: activations are F64 \[3\], expected \[tokens, width\]"),
        ([Request(np.zeros((1, 2))), Request(np.zeros((1, 3)))], r"request 1 has activations F64 \['rows', 3\], those"),
        ([Request(np.zeros((1, 2)), token_ids=[1, 2])], "request 0: token_ids has 2 entries, expected 1"),
    ],
)
def test_requests_that_do_not_agree_are_refused(found: list[Request], reason: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=reason):
        write_dump(tmp_path / "d.safetensors", found)


@pytest.mark.parametrize("offsets", [[0, 2], [1, 3], [0, 2, 2, 3], [0, 3, 2, 3]])
def test_offsets_that_do_not_fit_are_refused(offsets: list[int], tmp_path: Path) -> None:
    file = tmp_path / "d.safetensors"
    tensors = {"activations": tensor_of(np.zeros((3, 2))), "request_offsets": tensor_of(np.array(offsets))}
    file.write_bytes(encode(tensors))
    with pytest.raises(ValueError, match="request_offsets do not run from 0 to 3, ascending"):
        list(read_dump(file))


def launcher(tmp_path: Path, script: str) -> str:
    file = tmp_path / "plumbline"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_a_baseline_is_the_products_own_command(tmp_path: Path) -> None:
    said: Any = baseline(
        ["a.st", "b.st"], "sae", "out.st", rank=8, launcher=launcher(tmp_path, 'echo "$@"'), window_rows=16, json=True
    )
    expected = "baseline --explainer sae --activations a.st b.st --rank 8 --out out.st --window-rows 16 --json"
    assert said.strip() == expected
    with pytest.raises(RuntimeError, match="exit code 2: no such file"):
        baseline(["a"], "sae", "o", rank=8, launcher=launcher(tmp_path, "echo no such file >&2; exit 2"))


def test_a_recording_takes_the_place_of_a_producer(tmp_path: Path) -> None:
    rows = np.arange(24, dtype="float32").reshape(6, 4)
    buffer = rows.copy()
    with Recording(tmp_path / "m.safetensors", shard_rows=8) as recording:
        assert recording.send("a", "r", buffer, special=[1, 0, 0, 0, 0, 0], token_ids=range(6))
        buffer[:] = -1
        assert recording.send("a", "s", rows, token_ids=range(6))
        with pytest.raises(ValueError, match="site b: the recording is of a; make one for each site"):
            recording.send("b", "r", rows)
        with pytest.raises(ValueError, match="request 2 has activations F32"):
            recording.send("a", "r", rows)
    assert [file.name for file in recording.files] == ["m-00000.safetensors", "m-00001.safetensors"]
    first, second = read_dump(*recording.files)
    np.testing.assert_array_equal(first.activations, rows[1:])
    np.testing.assert_array_equal(first.token_ids, range(1, 6))
    np.testing.assert_array_equal(second.activations, rows)
    with pytest.raises(ValueError, match="no request has a row"), Recording(tmp_path / "none.safetensors"):
        pass
