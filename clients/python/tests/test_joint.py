"""The one decoder of several targets: put together, followed and taken apart, without a broker."""

from __future__ import annotations

import numpy as np
import pytest
from test_decoders import Topic

from plumbline_sae import JointDecoder, Trained
from plumbline_sae.tensors import tensor_of

RANDOM = np.random.default_rng(3)
LAYERS = [RANDOM.standard_normal((5, 3 - layer, 4)).astype("float32") for layer in range(3)]
BIASES = [RANDOM.standard_normal(4).astype("float32") for _ in range(3)]


def test_a_subscriber_takes_the_one_decoder_and_gives_every_block() -> None:
    joint = JointDecoder.of_layers(LAYERS, BIASES)
    topic = Topic(joint.trained)
    assert joint.trained.W_dec is not None
    assert joint.trained.b_dec is not None
    tensors = {"W_dec": tensor_of(2 * joint.trained.W_dec), "b_dec": tensor_of(joint.trained.b_dec)}
    decoder = topic.publish(1, tensors, parent_sha256=joint.trained.identity)
    assert topic.refused == []
    blocks = joint.split(decoder)
    assert list(blocks) == [0, 1, 2]
    np.testing.assert_array_equal(blocks[0].W_dec, 2 * LAYERS[0][:, 0])
    np.testing.assert_array_equal(blocks[2].W_dec[5:10], 2 * LAYERS[1][:, 1])
    np.testing.assert_array_equal(blocks[2].b_dec, BIASES[2])
    assert [block.W_dec.shape for block in blocks.values()] == [(5, 4), (10, 4), (15, 4)]


def test_what_lies_outside_of_the_blocks_is_zero() -> None:
    joint = JointDecoder.of_layers(LAYERS, BIASES).trained.W_dec
    assert joint is not None
    assert joint.shape == (15, 12)
    assert not joint[5:, :4].any()
    assert not joint[10:, 4:8].any()
    assert joint[10:, 8:].all()


def test_the_blocks_of_some_targets_lie_in_the_order_of_the_configuration() -> None:
    joint = JointDecoder.of_layers(LAYERS, BIASES, targets=[2, 1])
    assert joint.targets == (2, 1)
    blocks = joint.split(joint.trained)
    np.testing.assert_array_equal(blocks[1].W_dec, np.concatenate([LAYERS[0][:, 1], LAYERS[1][:, 0]]))
    assert blocks[1].identity == Trained.of({"W_dec": blocks[1].W_dec, "b_dec": BIASES[1]}).identity


def test_blocks_of_different_sizes_are_joined() -> None:
    blocks = {
        7: {"W_dec": LAYERS[0][:, 0], "b_dec": BIASES[0]},
        9: {"W_dec": LAYERS[1][:3, 1, :2], "b_dec": [1.0, 2.0]},
    }
    found = JointDecoder.of(blocks)
    split = found.split(found.trained)
    assert split[9].W_dec.shape == (3, 2)
    np.testing.assert_array_equal(split[9].b_dec, [1.0, 2.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JointDecoder.of({}), "no block, expected the trained decoder of each target layer"),
        (lambda: JointDecoder.of({3: "0" * 64}), "target 3: only the identity of its decoder is known"),
        (lambda: JointDecoder.of_layers(LAYERS[1:], BIASES), "W_dec of 2 layers and b_dec of 3"),
        (
            lambda: JointDecoder.of_layers(LAYERS[1:], BIASES[1:]).split(
                JointDecoder.of_layers(LAYERS, BIASES).trained
            ),
            r"W_dec is \[15, 12\], the joint decoder's \[10, 8\]",
        ),
        (lambda: JointDecoder.of_layers(LAYERS, BIASES, [4]), "target 4: expected a layer from 0 to 2"),
        (
            lambda: JointDecoder.of_layers(LAYERS[::-1], BIASES),
            "W_dec of layer 0 is .*expected \\[features, 3, width\\]",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
