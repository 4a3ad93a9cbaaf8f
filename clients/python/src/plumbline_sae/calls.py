"""What a model is called with: its tokens, which of them are padding, and where in the text they stand."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .tensors import Array, tensor_of

_CACHES = ("cache", "past_key_values", "past_kv_cache", "cache_params", "state", "mems")
"""Arguments that hold what was computed of a text so far: transformers' of all ages, TransformerLens'."""

_POSITIONS = ("cache_position", "input_pos")
"""Arguments that number the positions of a call from the text's first token on."""

_MASKED = -9_000.0
"""What is added to a score where nothing may be read is lower: -10,000 in bfloat16 is -9,984."""


def parameters_of(model: torch.nn.Module) -> tuple[str, ...]:
    """Returns the names of what a model can be called with by position."""
    try:
        found = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(entry.name for entry in found if entry.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Given:
    """What one call of a model was given.

    Attributes:
        ids: the tokens [requests, tokens], or None where the model is given something else.
        shape: requests and tokens, where they can be told before the model runs.
        mask: the attention mask as it came.
        cache: what the model keeps of the text so far, or None.
        first: the first position, where an argument says it.
        last: the last position of the longest request, where an argument says it.
    """

    ids: torch.Tensor | None
    shape: tuple[int, int] | None
    mask: Any
    cache: Any
    first: int | None
    last: int | None

    @classmethod
    def of(cls, names: Sequence[str], inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Given:
        """Returns what `model(*inputs, **kwargs)` gives to a model whose parameters are called `names`.

        Raises:
            ValueError: when an argument by position cannot be named, or the positions of the tokens cannot be told.
        """
        named = {**dict(zip(names, inputs, strict=False)), **kwargs}
        unnamed = inputs[len(names) :]
        if len(inputs) == 1 and unnamed:
            named["input_ids"] = inputs[0]
        elif any(value is not None for value in unnamed):
            raise ValueError(
                f"the model is called with {len(inputs)} arguments by position, and its forward names {len(names)};"
                " call it with attention_mask=..."
            )
        if named.get("perm_mask") is not None:
            raise ValueError("the model is called with perm_mask: the positions of its tokens cannot be told")
        tokens = next((named[name] for name in ("input_ids", "input") if named.get(name) is not None), None)
        if tokens is None:
            tokens = named.get("inputs_embeds")
        if tokens is None and names:
            tokens = named.get(names[0])
        ids, shape = None, None
        if isinstance(tokens, torch.Tensor):
            if tokens.is_floating_point():
                shape = (tokens.shape[0], tokens.shape[1]) if tokens.ndim == 3 else None
            elif tokens.ndim in (1, 2):
                ids = torch.atleast_2d(tokens)
                shape = (ids.shape[0], ids.shape[1])
        position_ids = named.get("position_ids")
        flat = isinstance(position_ids, torch.Tensor) and position_ids.ndim <= 2 and position_ids.numel() > 0
        return cls(
            ids,
            shape,
            named.get("attention_mask"),
            next((named[name] for name in _CACHES if named.get(name) is not None), None),
            next((int(named[name].reshape(-1)[0]) for name in _POSITIONS if _has_numbers(named.get(name))), None),
            int(position_ids.max()) if flat and position_ids is not None else None,
        )

    def start(self, length: int, end: int) -> int:
        """Returns the position of the call's first token, of a text that has come to `end`."""
        if self.first is not None:
            return self.first
        cached = cached_tokens(self.cache)
        if cached is not None:
            return cached
        width = self.mask.shape[1] if isinstance(self.mask, torch.Tensor) and self.mask.ndim == 2 else length
        if width > length:  # the mask is of the whole text, and the model keeps its cache to itself
            return width - length
        goes_on = self.cache is not None or (end > 0 and self.last is not None and self.last + 1 == end + length)
        return end if goes_on else 0


def _has_numbers(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 0


def cached_tokens(cache: Any) -> int | None:
    """Returns how many tokens a cache holds; None where it does not say."""
    try:
        if hasattr(cache, "get_seq_length"):
            return int(cache.get_seq_length())
        if hasattr(cache, "entries"):  # TransformerLens: [requests, tokens, heads, width]
            return int(cache.entries[0].past_keys.shape[1])
        if isinstance(cache, (tuple, list)) and isinstance(cache[0], (tuple, list)):
            return int(cache[0][1].shape[-2])
    except (AttributeError, IndexError, TypeError, ValueError):
        return None  # a recurrent state
    return None


def is_one_object(cache: Any) -> bool:
    """Returns whether a text's cache is one object from its first call to its last."""
    return hasattr(cache, "get_seq_length") or hasattr(cache, "entries")


def tokens_in(mask: Any, start: int, shape: tuple[int, int]) -> Array | None:
    """Returns which tokens [requests, tokens] of a call are no padding; None where the mask does not concern them.

    | mask | a token is padding where |
    |---|---|
    | [requests, tokens so far], or [requests, tokens] of the call | its entry is 0, or below -9,000 |
    | [requests, (heads,) 1, keys] | its key is masked |
    | [requests, (heads,) tokens, keys] | it must not read itself |
    | a mapping from each kind of attention to a mask | the mask of full attention, or the first one, says it |

    A mask over pairs is of booleans, of 0 and 1, or of what is added to scores.

    Raises:
        TypeError: when the mask is of another kind.
        ValueError: when the mask does not fit the tokens, or does not tell them from padding.
    """
    if isinstance(mask, Mapping):
        found = [mask.get("full_attention"), *mask.values()]
        mask = next((entry for entry in found if entry is not None), None)
    if mask is None:
        return None
    if not isinstance(mask, torch.Tensor):
        raise TypeError(f"attention_mask is a {type(mask).__name__}: padding cannot be read from it{_ADVICE}")
    mask = mask.detach()
    if mask.ndim <= 2:
        real = _of_tokens(torch.atleast_2d(mask), start, shape)
    elif mask.ndim <= 4:
        real = _of_pairs(mask, start, shape)
    else:
        raise ValueError(f"attention_mask is {list(mask.shape)}, expected two, three or four axes{_ADVICE}")
    return np.broadcast_to(tensor_of(real).values.astype(bool), shape)


_ADVICE = "; give `batch` the tokenizer's attention_mask"


def _of_tokens(mask: torch.Tensor, start: int, shape: tuple[int, int]) -> torch.Tensor:
    count, length = shape
    width = mask.shape[1]
    if mask.shape[0] not in (1, count) or (width != length and width < start + length):
        raise ValueError(
            f"attention_mask is {list(mask.shape)}, expected [{count}, {start + length}] or [{count}, {length}]"
        )
    first = start if width >= start + length else 0
    added = mask.is_floating_point() and bool((mask < _MASKED).any())
    return (mask > _MASKED if added else mask != 0)[:, first : first + length]


def _of_pairs(mask: torch.Tensor, start: int, shape: tuple[int, int]) -> torch.Tensor:
    count, length = shape
    added = mask.is_floating_point() and not bool((mask > 0).any())
    reads = mask > _MASKED if added else mask != 0
    if reads.ndim == 4:
        reads = reads.any(1)
    queries, keys = reads.shape[1:]
    first = start - max(0, start + length - keys)  # a window of the last keys ends with the call's last token
    if reads.shape[0] not in (1, count) or queries not in (1, length) or first < 0:
        raise ValueError(
            f"attention_mask is {list(mask.shape)}, expected {length} queries and {start + length} keys"
            f" of {count} requests{_ADVICE}"
        )
    here = reads[:, :, first : first + length]
    if queries < length:
        return here[:, 0]
    real = here.diagonal(dim1=1, dim2=2)
    # Where a row would read nothing, old versions of transformers let it read everything, which no last row does then.
    everything = reads.all(-1)
    padding = (everything & ~everything[:, -1:]) | ~reads.any(-1)
    real = real & ~padding
    alone = real & (reads.sum(-1) == 1) & (here.sum(1) == 1)
    if length > 1 and bool((alone & ~padding.any(-1, keepdim=True)).any()):
        raise ValueError(f"attention_mask has tokens that read themselves alone, which padding may do{_ADVICE}")
    return real
