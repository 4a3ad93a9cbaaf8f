"""The one decoder of a site with several targets: how the decoders of its blocks lie in it.

The layout is described in the product's docs/concepts/decoders.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .decoders import Decoder, Trained
from .tensors import Array, identity, tensor_of


@dataclass(frozen=True)
class Block:
    """The decoder of one target layer.

    Attributes:
        target: the layer that is written.
        W_dec: [features that write it, width].
        b_dec: [width].
    """

    target: int
    W_dec: Array
    b_dec: Array

    @property
    def identity(self) -> str:
        """Returns SHA-256 of the weights and the bias as float32."""
        return identity(self.W_dec, self.b_dec)


@dataclass(frozen=True)
class _Place:
    features: int
    columns: slice


class JointDecoder:
    """The decoders of a site's target layers as one: published and swapped together, all or none.

    Its rows are the features of the block that has most, its columns the target layers side by side. What lies outside
    the blocks is 0.

        joint = JointDecoder.of({0: "block0.safetensors", 1: "block1.safetensors"})
        with DecoderSubscriber(config, {"clt": joint.trained}) as decoders:
            for decoder in decoders:
                blocks = joint.split(decoder)  # blocks[1].W_dec, blocks[1].b_dec

    Attributes:
        trained: the one decoder as it was trained, for a `DecoderSubscriber`.
        targets: the target layers, in the order of their columns.
    """

    def __init__(self, trained: Trained, places: Mapping[int, _Place]) -> None:
        self.trained = trained
        self._places = dict(places)
        self.targets = tuple(places)

    @classmethod
    def of(cls, blocks: Mapping[int, Any]) -> JointDecoder:
        """Returns the joint decoder of the trained decoders of all target layers.

        Args:
            blocks: what `Trained.of` takes, with its weights, by target layer; in the order of `targets` in
                plumbline.yaml.

        Raises:
            ValueError: when there is no block, or only the identity of a decoder is known.
        """
        if not blocks:
            raise ValueError("no block, expected the trained decoder of each target layer")
        weights: dict[int, Array] = {}
        biases: list[Array] = []
        for target, source in blocks.items():
            block = Trained.of(source)
            if block.W_dec is None or block.b_dec is None:
                raise ValueError(f"target {target}: only the identity of its decoder is known, not its weights")
            weights[target] = block.W_dec
            biases.append(block.b_dec)
        places: dict[int, _Place] = {}
        first = 0
        for target, values in weights.items():
            places[target] = _Place(values.shape[0], slice(first, first + values.shape[1]))
            first += values.shape[1]
        kind = np.result_type(*weights.values())
        joint = np.zeros((max(place.features for place in places.values()), first), dtype=kind)
        for target, values in weights.items():
            place = places[target]
            joint[: place.features, place.columns] = values
        return cls(Trained.of({"W_dec": joint, "b_dec": np.concatenate(biases)}), places)

    @classmethod
    def of_layers(
        cls, W_dec: Sequence[Any], b_dec: Sequence[Any], targets: Sequence[int] | None = None
    ) -> JointDecoder:
        """Returns the joint decoder of a cross-layer transcoder, as circuit-tracer holds its weights.

        Args:
            W_dec: of each layer [features, layers from it to the last, width].
            b_dec: of each layer [width].
            targets: the layers that plumbline.yaml lists, in its order; default: all.

        Raises:
            ValueError: when the weights are of other shapes, or a target is no layer.
        """
        decoders = [tensor_of(weights).widened() for weights in W_dec]
        layers = len(decoders)
        if len(b_dec) != layers:
            raise ValueError(f"W_dec of {layers} layers and b_dec of {len(b_dec)}, expected as many of each")
        for layer, weights in enumerate(decoders):
            if weights.ndim != 3 or weights.shape[1] != layers - layer:
                raise ValueError(
                    f"W_dec of layer {layer} is {list(weights.shape)}, expected [features, {layers - layer}, width]"
                )
        blocks: dict[int, dict[str, Any]] = {}
        for target in range(layers) if targets is None else targets:
            if not 0 <= target < layers:
                raise ValueError(f"target {target}: expected a layer from 0 to {layers - 1}")
            written = [decoders[layer][:, target - layer] for layer in range(target + 1)]
            blocks[target] = {"W_dec": np.concatenate(written), "b_dec": b_dec[target]}
        return cls.of(blocks)

    def split(self, decoder: Decoder | Trained) -> dict[int, Block]:
        """Returns the decoder of each target layer, without a copy.

        Raises:
            ValueError: when the decoder is of another shape.
        """
        expected = None if self.trained.W_dec is None else self.trained.W_dec.shape
        if decoder.W_dec is None or decoder.b_dec is None or decoder.W_dec.shape != expected:
            shape = None if decoder.W_dec is None else list(decoder.W_dec.shape)
            raise ValueError(f"W_dec is {shape}, the joint decoder's {None if expected is None else list(expected)}")
        return {
            target: Block(target, decoder.W_dec[: place.features, place.columns], decoder.b_dec[place.columns])
            for target, place in self._places.items()
        }
