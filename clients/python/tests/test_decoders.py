"""Putting decoders together from records, without a broker."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from plumbline_sae import Trained
from plumbline_sae.subscriber import Assembler
from plumbline_sae.tensors import Tensor, decode, encode, identity, tensor_of

WEIGHTS = np.arange(8, dtype="float32").reshape(4, 2)
BIAS = np.array([1.5, -2.0], dtype="float32")
TRAINED = Trained.of({"W_dec": WEIGHTS, "b_dec": BIAS})
RESCALED = SimpleNamespace(rescale_acts_by_decoder_norm=True)
FOLDERS = Path(__file__).parent / "fixtures" / "saelens"


class Topic:
    """What an assembler refuses, and records of a version."""

    def __init__(self, *trained: Trained, after: int = 0) -> None:
        self.refused: list[tuple[int, str]] = []
        self.assembler = Assembler(
            "a", trained or [TRAINED], lambda site, version, what: self.refused.append((version, what)), after
        )

    def publish(self, version: int, tensors: dict[str, Tensor], **changes: Any) -> Any:
        blob, chunks = encode(tensors), 2
        size = -(-len(blob) // chunks)
        for index in range(chunks):
            part = struct.pack(">bqi", 1, version, index) + blob[index * size : (index + 1) * size]
            assert self.assembler.accept(f"a#{index}".encode(), part) is None
        manifest = {
            "schema": 1,
            "version": version,
            "kind": "adapted",
            "parent_sha256": TRAINED.identity,
            "chunks": chunks,
            "bytes": len(blob),
            "sha256": hashlib.sha256(blob).hexdigest(),
        }
        return self.assembler.accept(b"a", json.dumps(manifest | changes).encode())


def decoder(factor: float = 2.0) -> dict[str, Tensor]:
    return {"W_dec": tensor_of((factor * WEIGHTS).astype("float32")), "b_dec": tensor_of(BIAS)}


def test_a_whole_version_is_handed_over_once() -> None:
    topic = Topic()
    found = topic.publish(3, decoder())
    np.testing.assert_array_equal(found.W_dec, 2 * WEIGHTS)
    assert found.identity == identity(2 * WEIGHTS, BIAS)
    assert topic.publish(3, decoder()) is None
    assert topic.publish(2, decoder()) is None
    assert topic.publish(4, decoder()).version == 4
    assert topic.refused == []


def test_bfloat16_is_widened_exactly() -> None:
    bits = Tensor("BF16", (WEIGHTS.view("uint32") >> 16).astype("uint16"))
    found = Topic().publish(1, {"W_dec": bits, "b_dec": tensor_of(BIAS)})
    assert found.W_dec.dtype == np.float32
    np.testing.assert_array_equal(found.W_dec, WEIGHTS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bytes": 7}, "is not served: its bytes are not those of its manifest"),
        ({"sha256": "0" * 64}, "is not served: its bytes are not those of its manifest"),
        ({"schema": 9}, "passed over: schema 9"),
        ({"chunks": "2"}, "has a record that is no manifest: chunks = 2, expected a whole number from 1 to 2147483583"),
        ({"sha256": "x"}, "has a record that is no manifest: sha256 = x, expected 64 hexadecimal digits"),
    ],
)
def test_what_does_not_agree_is_refused_and_the_next_version_is_served(changes: dict[str, Any], reason: str) -> None:
    topic = Topic()
    assert topic.publish(1, decoder(), **changes) is None
    assert [what for _, what in topic.refused] == [reason]
    assert topic.publish(2, decoder()).version == 2


@pytest.mark.parametrize("changes", [{"chunks": 3}, {"chunks": 1}])
def test_what_is_not_whole_is_passed_over_in_silence(changes: dict[str, Any]) -> None:
    topic = Topic()
    assert topic.publish(1, decoder(), **changes) is None
    assert topic.refused == []


def test_a_decoder_of_another_explainer_is_taken_by_who_holds_it_and_refused_by_who_does_not() -> None:
    wide = {"W_dec": np.ones((6, 2), "float32"), "b_dec": BIAS}
    other = Trained.of(wide)
    tensors = {name: tensor_of(values) for name, values in wide.items()}
    both = Topic(TRAINED, other)
    assert both.publish(1, decoder()).parent_sha256 == TRAINED.identity
    found = both.publish(2, tensors, parent_sha256=other.identity)
    assert (found.parent_sha256, found.W_dec.shape) == (other.identity, (6, 2))
    assert both.publish(3, decoder()).version == 3
    assert both.refused == []

    old = Topic()
    assert old.publish(1, decoder()).version == 1
    assert old.publish(2, tensors, parent_sha256=other.identity) is None
    assert old.refused == [(2, f"is not served: it was made from {other.identity}, which is not held here")]
    assert old.publish(3, decoder()).version == 3


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"W_dec": np.full((4, 2), np.nan, "float32"), "b_dec": BIAS}, "W_dec holds a value that is not finite"),
        ({"W_dec": WEIGHTS.T.copy(), "b_dec": BIAS}, "W_dec is [2, 4], the trained decoder's [4, 2]"),
        ({"W_dec": WEIGHTS}, "b_dec is missing, expected floating point of 1 dimension"),
        (
            {"W_dec": WEIGHTS.astype("int32"), "b_dec": BIAS},
            "W_dec is int32 [4, 2], expected floating point of 2 dimensions",
        ),
    ],
)
def test_right_bytes_of_wrong_tensors_are_refused(tensors: dict[str, Any], reason: str) -> None:
    topic = Topic()
    assert topic.publish(1, {name: tensor_of(values) for name, values in tensors.items()}) is None
    assert topic.refused == [(1, f"is not served: {reason}")]


def test_a_flood_of_chunks_is_given_up() -> None:
    topic = Topic()
    chunk = bytes(1 << 19)
    for index in range(4):
        topic.assembler.accept(f"a#{index}".encode(), struct.pack(">bqi", 1, 1, index) + chunk)
    assert topic.refused == [(1, "is not served: it has more than 1048640 bytes")]
    assert topic.assembler._held <= 1 << 19 | 64


def test_what_was_served_is_not_handed_over_again() -> None:
    topic = Topic(after=5)
    assert topic.publish(5, decoder()) is None
    assert topic.publish(6, decoder()).version == 6


def test_the_trained_decoder_is_read_from_folders_files_and_mappings(tmp_path: Path) -> None:
    (tmp_path / "sae_weights.safetensors").write_bytes(
        encode({"W_dec": tensor_of(WEIGHTS), "b_dec": tensor_of(BIAS), "W_enc": tensor_of(WEIGHTS.T.copy())})
    )
    for source in (tmp_path, tmp_path / "sae_weights.safetensors", TRAINED.identity, TRAINED):
        assert Trained.of(source).identity == TRAINED.identity
    (tmp_path / "other.safetensors").write_bytes(encode({"W_dec": tensor_of(WEIGHTS)}))
    with pytest.raises(ValueError, match=r"other\.safetensors: has no b_dec"):
        Trained.of(tmp_path / "other.safetensors")


def test_a_trained_decoder_does_not_change_with_its_source() -> None:
    weights = WEIGHTS.copy()
    trained = Trained.of({"W_dec": weights, "b_dec": BIAS})
    weights[0, 0] = 99
    assert trained.W_dec is not None
    assert trained.W_dec[0, 0] == 0


@pytest.mark.parametrize(
    ("folder", "sha256"),  # decoder_sha256 of `plumbline explainer`
    [
        ("trained_topk", "3adec992e91e0e30cdd037882aa4f72d3b6e8597c83baaea86beb61dfa0af8a8"),
        ("topk_rescaled", "fa1ca5049ebcdbeb9e39a148424763fcb82cc0da1b6874e32a7fcb64dbf1d3f7"),
        ("topk", "99444e2f37a6e315c87c8b419591b90ce7f4f82b082ab061e12640a572247d9c"),
    ],
)
def test_a_folder_and_an_sae_have_the_identity_that_the_monitor_computes(folder: str, sha256: str) -> None:
    weights = FOLDERS / folder / "sae_weights.safetensors"
    stored = {name: tensor.values for name, tensor in decode(weights.read_bytes()).items()}
    config = json.loads((FOLDERS / folder / "cfg.json").read_text())
    sae = SimpleNamespace(W_dec=stored["W_dec"], b_dec=stored["b_dec"], cfg=SimpleNamespace(**config))
    for source in (FOLDERS / folder, weights, sae):
        assert Trained.of(source).identity == sha256
    stays = Trained.of({"W_dec": stored["W_dec"], "b_dec": stored["b_dec"]}).identity
    assert (stays == sha256) == (not config["rescale_acts_by_decoder_norm"])


def test_rows_are_divided_by_lengths_whose_squares_were_added_in_order() -> None:
    weights = np.random.default_rng(3).standard_normal((5_000, 97)).astype("float32")
    weights[17] = 0
    expected = weights.astype(np.float64)
    for row in expected:
        squares = 0.0
        for value in row.tolist():
            squares += value * value
        row /= math.sqrt(squares) if squares else 1.0
    found = Trained.of(SimpleNamespace(W_dec=weights, b_dec=np.zeros(97, "f4"), cfg=RESCALED))
    np.testing.assert_array_equal(found.W_dec, expected.astype(np.float32))
    wide = Trained.of(SimpleNamespace(W_dec=weights.astype(np.float64), b_dec=np.zeros(97), cfg=RESCALED))
    np.testing.assert_array_equal(wide.W_dec, expected)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("[]", "no JSON object"),
        ("{", "Expecting property name"),
        ('{"architecture": "topk", "rescale_acts_by_decoder_norm": 1}', "= 1: expected true or false"),
        ('{"architecture": "topk", "k": 2.5}', "k = 2.5: expected a whole number"),
    ],
)
def test_a_folder_whose_configuration_cannot_be_read_is_refused(config: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "cfg.json").write_text(config)
    (tmp_path / "sae_weights.safetensors").write_bytes(encode(decoder()))
    with pytest.raises(ValueError, match=rf"cfg\.json: .*{sentence}"):
        Trained.of(tmp_path)
