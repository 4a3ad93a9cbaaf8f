"""Where in a served model a place is: its blocks, and what they hand on.

What a block hands on differs in vLLM. Some give the stream, and some a pair (what the MLP adds, the stream before it)
whose sum is the stream. Types do not tell the two apart from a third kind: a pair whose first part is the sum already.
So it must be known: of models with auxiliary outputs, whose own code adds the pair where there is one, and of the
blocks below. What the MLP adds is known of these blocks only: others of models with auxiliary outputs give the stream.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from .places import Place

_BLOCKS = {
    "Gemma2DecoderLayer": "pair",
    "Gemma3DecoderLayer": "pair",
    "LlamaDecoderLayer": "pair",
    "Qwen2DecoderLayer": "pair",
    "Qwen3DecoderLayer": "pair",
    "GPT2Block": "stream",
}
_MLPS = ("mlp", "feed_forward", "block_sparse_moe")
_LISTS = ("layers", "h", "blocks")


@dataclass(frozen=True)
class Point:
    """A module whose input or output has the rows of a place.

    Attributes:
        module: the module.
        name: of the buffer that takes the rows.
        reads: the name and the number of the parameter that has the rows; None where the output has them.
        is_sum: whether the rows are the sum of a pair.
    """

    module: Any
    name: str
    reads: tuple[str, int] | None = None
    is_sum: bool = False

    def rows_in(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the rows that the module is called with."""
        name, number = self.reads or ("", 0)
        return kwargs[name] if name in kwargs else inputs[number]

    def rows_out(self, output: Any) -> Any:
        """Returns the rows that the module gives."""
        if not isinstance(output, tuple):
            return output
        return output[0] + output[1] if self.is_sum and output[1] is not None else output[0]


def blocks_of(model: Any) -> Any:
    """Returns a served model's blocks.

    Raises:
        ValueError: when they are not found.
    """
    if hasattr(model, "get_language_model"):
        model = model.get_language_model()
    for inner in (getattr(model, "model", None), getattr(model, "transformer", None), model):
        for name in _LISTS:
            found = getattr(inner, name, None)
            if hasattr(found, "__len__") and hasattr(found, "__getitem__"):
                return found
    raise ValueError(f"{type(model).__name__}: its blocks are in none of {', '.join(_LISTS)}")


def require_block(model: Any, place: Place) -> None:
    """Checks that a model has as many blocks as a place needs.

    Raises:
        ValueError: says how many there are.
    """
    count = len(blocks_of(model))
    layer = place.layer - 1 if place.is_stream else place.layer
    if layer >= count:
        raise ValueError(f"the model has no block {layer}, its blocks are 0 to {count - 1}")


def point_of(model: Any, place: Place, *, adds_pairs: bool) -> Point:
    """Returns where the rows of a place are.

    Args:
        model: the loaded model.
        place: which rows.
        adds_pairs: whether the model's own code adds what its blocks hand on, as one with auxiliary outputs does.

    Raises:
        ValueError: when the model has no such place, or nothing shows what its blocks hand on.
    """
    require_block(model, place)
    blocks = blocks_of(model)
    if place == Place("stream", 0):
        parameters = list(inspect.signature(blocks[0].forward).parameters)
        if "hidden_states" not in parameters:
            raise ValueError(f"{type(blocks[0]).__name__}: has no hidden_states among {', '.join(parameters)}")
        return Point(blocks[0], "plumbline_entering", reads=("hidden_states", parameters.index("hidden_states")))
    block = blocks[place.layer - 1 if place.is_stream else place.layer]
    if place.kind == "mlp_in":
        mlp = _mlp_of(block)
        return Point(mlp, "plumbline_in", reads=(next(iter(inspect.signature(mlp.forward).parameters)), 0))
    if place.kind == "mlp_out":
        return Point(_mlp_of(block), "plumbline_out")
    hands_on = _BLOCKS.get(type(block).__name__)
    if place.is_stream and (adds_pairs or hands_on):
        return Point(block, "plumbline_stream", is_sum=hands_on != "stream")
    if hands_on is None:
        raise ValueError(
            f"{type(block).__name__}: nothing shows what this block hands on; known are {', '.join(_BLOCKS)}, and for"
            " the residual stream the blocks of models with auxiliary outputs"
        )
    if hands_on == "pair":
        return Point(block, "plumbline_added")
    return Point(_mlp_of(block), "plumbline_added")  # such a block adds what its MLP's module gives


def _mlp_of(block: Any) -> Any:
    for name in _MLPS:
        if hasattr(block, name):
            return getattr(block, name)
    raise ValueError(f"{type(block).__name__}: has none of {', '.join(_MLPS)}")
