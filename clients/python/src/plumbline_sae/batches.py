"""The requests that one call of a model, or one `generate`, serves: which of their positions are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from .tensors import Array, Tensor, tensor_of


@dataclass
class Call:
    """One call of the model within a batch: which of its positions are taken."""

    shape: tuple[int, int]
    take: Array
    """Indices into the call's [batch x length] rows."""
    requests: Array
    positions: Array
    ids: Array | None
    """The tokens, where they are known."""
    not_sampled: int
    """Positions that would have been taken if their request were sampled."""
    on_device: dict[torch.device, torch.Tensor] = field(default_factory=dict)

    def index_on(self, device: torch.device) -> torch.Tensor:
        """Returns the indices where the hidden states are."""
        if device not in self.on_device:
            index = torch.from_numpy(self.take)
            self.on_device[device] = index.to(device, non_blocking=True) if device.type != "cpu" else index
        return self.on_device[device]


@dataclass
class Step:
    """The rows that one call of the model gave one place."""

    rows: torch.Tensor
    call: Call


@dataclass
class Batch:
    """Requests that are served together, and what was taken of them so far."""

    requests: Sequence[str]
    sampled: Array
    attention_mask: Array | None
    special: Array | None
    input_ids: Array | None
    timestamp_ms: int | None
    special_ids: Array
    seen: int = 0
    ended: Array | None = None
    call: Call | None = None
    steps: dict[tuple[str, str], list[Step]] = field(default_factory=dict)
    not_sampled: dict[str, int] = field(default_factory=dict)
    headers: Sequence[Mapping[str, str]] | None = None
    called: bool = False
    """Whether the model was called."""
    came: set[tuple[str, str]] = field(default_factory=set)
    """The places that its calls came by."""
    last_call: dict[tuple[str, str], Call] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    """Sites of which nothing is sent."""

    def refuse(self, site: str) -> None:
        """Gives up what was taken of a site."""
        self.refused.add(site)
        self.not_sampled.pop(site, None)
        for key in [key for key in self.steps if key[0] == site]:
            del self.steps[key]

    def plan(self, shape: tuple[int, int], ids: torch.Tensor | None, mask: torch.Tensor | None) -> Call:
        """Decides which positions of a call are taken, and moves the batch's position on."""
        count, length = shape
        if count != len(self.requests):
            raise ValueError(
                f"the model is called with {count} rows, the batch names {len(self.requests)} requests"
                " (beams and several returned sequences cannot be told apart)"
            )
        # Without a cache each step repeats the positions before it; with one it brings the new ones alone.
        first = self.seen if length > self.seen > 0 else 0
        start = self.seen if first == 0 else 0
        keep = np.zeros((count, length), dtype=bool)
        keep[:, first:] = True
        positions = np.broadcast_to(np.arange(start, start + length), (count, length))
        given = self.attention_mask
        if given is None and mask is not None:
            called = tensor_of(mask).values.astype(bool)
            keep &= called[:, -length:]
        for rule, wanted in ((given, True), (self.special, False)):
            if rule is not None:
                within = positions[0] < rule.shape[1]
                keep[:, within] &= rule[:, positions[0][within]] == wanted
        known = None
        if self.input_ids is not None and start + length <= self.input_ids.shape[1]:
            known = self.input_ids[:, start : start + length]
        elif ids is not None:
            known = tensor_of(ids).values.astype(np.int64)
        if known is not None and len(self.special_ids):
            special = np.isin(known, self.special_ids)
            keep &= ~special
            if self.seen > 0 and self.ended is not None:
                self.ended |= special[:, -1]
        if self.ended is not None:
            keep &= ~self.ended[:, None]
        self.seen = max(self.seen, start + length)
        not_sampled = int(keep[~self.sampled].sum())
        keep &= self.sampled[:, None]
        take = np.flatnonzero(keep)
        ids_taken = None if known is None else known.reshape(-1)[take]
        return Call(shape, take, take // length, positions[0][take % length], ids_taken, not_sampled)


@dataclass(frozen=True)
class Joined:
    """The rows of all calls, and of each its request, its position and its token, where that is known."""

    rows: Tensor
    requests: Array
    positions: Array
    ids: Array | None


def joined(steps: list[Step]) -> Joined:
    """Returns what all calls gave one place."""
    tensors = [tensor_of(step.rows) for step in steps]
    calls = [step.call for step in steps]
    known = [call.ids for call in calls if call.ids is not None]
    return Joined(
        tensors[0].with_values(np.concatenate([tensor.values for tensor in tensors])),
        np.concatenate([call.requests for call in calls]),
        np.concatenate([call.positions for call in calls]),
        np.concatenate(known) if len(known) == len(calls) else None,
    )
