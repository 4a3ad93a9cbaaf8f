"""Layers by their names, and the rows of one of them in hidden states of several.

Engines disagree about layers and axes. Here a layer is always named as TransformerLens names it:
`blocks.5.hook_resid_pre` is what enters block 5, `blocks.5.hook_resid_post` is what leaves it, before any final norm.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .fp8 import hidden_states_of
from .producer import Sink
from .tensors import FLOATS, Tensor, tensor_of

_HOOK = re.compile(r"blocks\.(\d+)\.hook_resid_(pre|post)")

Axes = Literal["tokens_first", "layers_first"]


def entering_layer(hook: str) -> int:
    """Returns vLLM's number of a place: how many blocks came before it.

    Raises:
        ValueError: when the hook is not on the residual stream between blocks; engines hand out nothing else.
    """
    found = _HOOK.fullmatch(hook)
    if found is None:
        raise ValueError(f"hook {hook!r}: expected blocks.N.hook_resid_pre or blocks.N.hook_resid_post")
    return int(found[1]) + (found[2] == "post")


def leaving_layer(hook: str) -> int:
    """Returns vllm-lens' number of a place: the block whose output it is.

    Raises:
        ValueError: when the place is no block's output.
    """
    layer = entering_layer(hook) - 1
    if layer < 0:
        raise ValueError(f"hook {hook!r}: what enters the first block leaves none, so vllm-lens cannot give it")
    return layer


def layer_ids_of(hooks: Mapping[str, str]) -> list[int]:
    """Returns vLLM's numbers of the places, in the order in which `vllm_config` asks for them."""
    return sorted({entering_layer(hook) for hook in hooks.values()})


def rows_of_layer(hidden_states: Any, layers: int, index: int, *, tokens: int | None, axes: Axes | None) -> Tensor:
    """Returns one layer's rows [tokens, hidden] of hidden states of several layers.

    Args:
        hidden_states: three axes; the last one is the hidden one.
        layers: how many layers there are.
        index: which of them, from 0.
        tokens: the most tokens there can be, or None where that is not known.
        axes: which axis comes first, or None to tell it from the sizes.

    Raises:
        ValueError: when the shape does not fit, or fits both ways round.
    """
    tensor = tensor_of(hidden_states)
    shape = tensor.shape
    if len(shape) != 3 or tensor.dtype not in FLOATS:
        raise ValueError(f"hidden states are {tensor.dtype} {list(shape)}, expected floating point of three axes")

    def fits(layer_axis: int) -> bool:
        return shape[layer_axis] == layers and (tokens is None or shape[1 - layer_axis] <= tokens)

    fitting: list[Axes] = [name for name, axis in _LAYER_AXIS.items() if fits(axis) and axes in (None, name)]
    if not fitting:
        wanted = "" if axes is None else f" with {axes.replace('_', ' ')}"
        limit = "" if tokens is None else f" and at most {tokens} tokens"
        raise ValueError(f"hidden states are {list(shape)}, expected {layers} layers{limit}{wanted}")
    if len(fitting) > 1:
        raise ValueError(
            f"hidden states are {list(shape)}: {layers} layers fit either of the first two axes;"
            " say axes='tokens_first' or axes='layers_first'"
        )
    values = tensor.values[:, index] if fitting[0] == "tokens_first" else tensor.values[index]
    return tensor.with_values(values)


_LAYER_AXIS: dict[Axes, int] = {"tokens_first": 1, "layers_first": 0}


def places_in(hooks: Mapping[str, str], layer_ids: Sequence[int]) -> dict[str, int]:
    """Returns for each site which of the layers is its own, from 0.

    Raises:
        ValueError: when a hook is no place that vLLM hands out, or not among the layers.
    """
    places = {}
    for site, hook in hooks.items():
        if entering_layer(hook) not in layer_ids:
            raise ValueError(f"site {site}: {hook} is layer {entering_layer(hook)}, not among {list(layer_ids)}")
        places[site] = list(layer_ids).index(entering_layer(hook))
    return places


class LayersOfFile:
    """Sends hidden states [tokens, layers, hidden] as vLLM's connectors hand them out, each site's layer on its own.

    Args:
        hooks: for each site its place.
        producer: where rows go.
        layer_ids: vLLM's numbers in the order of its configuration; default: those of `vllm_config`.
        shorter: which tokens the rows are of where there are fewer rows than tokens.
        headers: sent with every record.

    Raises:
        ValueError: when a hook is no place that vLLM hands out, or not among the layers.
    """

    def __init__(
        self,
        hooks: Mapping[str, str],
        producer: Sink,
        layer_ids: Sequence[int] | None,
        shorter: Literal["tail", "head"],
        headers: Mapping[str, str],
    ) -> None:
        self._layers = list(layer_ids) if layer_ids is not None else layer_ids_of(hooks)
        self._places = places_in(hooks, self._layers)
        self._producer = producer
        self._shorter = shorter
        self._headers = dict(headers)

    def send(self, request: str, tensors: Mapping[str, Tensor], *, patience: float = 0.0) -> None:
        """Sends the rows of one request; `patience` as of `Producer.send`.

        Raises:
            ValueError: when the tensors are not those of a connector.
        """
        states = hidden_states_of(tensors)
        ids = tensors["token_ids"].values if "token_ids" in tensors else None
        # One time at all sites: a baseline of a model finds by it the requests that all of them have.
        event_time = int(time.time() * 1000)
        for site, index in self._places.items():
            rows = rows_of_layer(
                states, len(self._layers), index, tokens=None if ids is None else len(ids), axes="tokens_first"
            )
            behind = len(ids) - rows.shape[0] if ids is not None and self._shorter == "tail" else 0
            self._producer.send(
                site,
                request,
                rows,
                token_ids=_of_rows(ids, rows.shape[0], self._shorter),
                timestamp_ms=event_time,
                headers=self._headers,
                cached=behind,
                patience=patience,
            )


def _of_rows(ids: Any, rows: int, shorter: str) -> Any:
    if ids is None or len(ids) == rows:
        return ids
    return ids[len(ids) - rows :] if shorter == "tail" else ids[:rows]
