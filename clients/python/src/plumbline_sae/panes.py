"""One site's sums and sample of one pane, and the record they become."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .hashes import row_hashes, signed
from .rows import Kept, concatenated, copy, home_of, host_rows, on_host, zeros
from .settings import Accumulation
from .tensors import Array, Tensor, tensor_of
from .totals import OpenTotals

BLOCK_ROWS = 128
"""Rows whose products are summed in float32 before they are added in float64."""

_STRIP = 512
"""Columns of the moment that are computed at a time: what is above the diagonal is left out by strips."""

_LARGEST_HASH = np.iinfo(np.int64).max


class Pane:
    """The sums and the sample of one site and pane. The caller holds the lock."""

    def __init__(self, start: int, how: Accumulation, width: int) -> None:
        self._start = start
        self._how = how
        self._width = width
        self.newest = start
        self.announced = 0
        self.is_damaged = False
        """Whether a failure left rows in the sums that the other numbers lack, so that the pane cannot be sent."""
        self.rows = 0
        self._requests = 0
        self._named: set[int] = set()
        """Requests of steps: each counts once, in however many steps it has rows."""
        self._masked = [0, 0]
        self._largest_norm = 0.0
        self._touched = time.monotonic()
        # One set of sums for each device that rows came from.
        self._sums: dict[Any, tuple[Any, Any]] = {}
        # Rows that wait, and the request of each.
        self._buffers: dict[Any, list[tuple[Any, Array]]] = {}
        self._waiting_bytes = 0
        self._sample = _Sample(how.sample_rows)
        self._totals = OpenTotals(how.request_totals, width)

    @property
    def bytes(self) -> int:
        """Returns the bytes of the sums, of the rows that wait for them, of the sample and of the totals."""
        sums = len(self._sums) * 8 * self._width * (self._width + 1)
        return sums + self._waiting_bytes + self._sample.bytes + self._totals.bytes

    @property
    def rows_read(self) -> int:
        """Returns the rows that came, masked ones among them."""
        return self.rows + sum(self._masked)

    def is_over(self, now_ms: int, linger_ms: int) -> bool:
        """Returns whether the pane's time is over and no row came for a while."""
        over = now_ms >= self._start + self._how.pane_ms
        return over and (time.monotonic() - self._touched) * 1000 >= linger_ms

    def add(self, kept: Kept, names: Mapping[int, str], record: int, event_time: int) -> None:
        """Adds a batch.

        Args:
            names: of requests by their hashes: several where the rows name their requests, else one, or none where the
                batch is its own request.
            record: the hash of the batch.
        """
        count = int(kept.wide.shape[0])
        requests = kept.requests
        if requests is None:
            requests = np.full(count, next(iter(names), signed(record)), dtype=np.int64)
        entering = self._sample.entering(kept, requests, record, event_time)
        if count:
            self._sum(kept.wide, requests)
        # From here on nothing fails, so that a batch is in all of the numbers or in none.
        if entering is not None:
            self._sample.take(entering)
        self._masked[0] += kept.by_token
        self._masked[1] += kept.by_norm
        self.newest = max(self.newest, event_time)
        self._touched = time.monotonic()
        if count == 0:
            return
        self.rows += count
        fresh = np.unique(requests).tolist()
        if kept.requests is not None:
            fresh = [request for request in fresh if request not in self._named]
            self._named.update(fresh)
        self._requests += len(fresh)
        self._totals.count(fresh, names)
        self._largest_norm = max(self._largest_norm, float(kept.norms.max()))

    def _sum(self, wide: Any, requests: Array) -> None:
        """Adds rows in blocks of 128; what is left over waits for the next ones, so that small batches cost no more."""
        home = home_of(wide)
        waiting = self._buffers.setdefault(home, [])
        if sum(len(part) for _, part in waiting) + len(requests) < BLOCK_ROWS:
            waiting.append((copy(wide), requests))  # the caller may overwrite its rows
            self._waiting_bytes += int(wide.nbytes)
            return
        rows = concatenated([*(part for part, _ in waiting), wide])
        owners = np.concatenate([*(part for _, part in waiting), requests])
        whole = len(owners) - len(owners) % BLOCK_ROWS
        left_over = [(copy(rows[whole:]), owners[whole:])] if whole < len(owners) else []
        self.is_damaged = True
        for first in range(0, whole, BLOCK_ROWS):
            self._block(home, rows[first : first + BLOCK_ROWS], owners[first : first + BLOCK_ROWS])
        self._buffers[home] = left_over
        self._waiting_bytes = sum(int(part.nbytes) for parts in self._buffers.values() for part, _ in parts)
        self.is_damaged = False

    def _block(self, home: Any, rows: Any, requests: Array) -> None:
        if home not in self._sums:
            self._sums[home] = zeros(rows, self._width), zeros(rows, self._width, self._width)
        total, moment = self._sums[home]
        total += rows.sum(0, dtype=total.dtype)
        for first in range(0, self._width, _STRIP):
            end = min(first + _STRIP, self._width)
            moment[first:end, :end] += rows[:, first:end].T @ rows[:, :end]
        self._totals.add(home, rows, requests)

    def tensors(self) -> dict[str, Tensor]:
        """Returns the record's tensors."""
        for home, waiting in self._buffers.items():
            if waiting:
                rows = concatenated([part for part, _ in waiting])
                self._block(home, rows, np.concatenate([part for _, part in waiting]))
        self._buffers = {}
        total = np.zeros(self._width)
        moment = np.zeros(self._width * (self._width + 1) // 2)
        for part, triangle in self._sums.values():
            total += on_host(part)
            moment += on_host(triangle)[np.tril_indices(self._width)]
        mask = self._how.mask
        tensors = {
            "rows": _longs([self.rows]),
            "requests": _longs([self._requests]),
            "pane": _longs([self._start, self._how.pane_ms]),
            "sum": Tensor("F64", total),
            "moment": Tensor("F32", moment.astype("<f4")) if self._how.f32 else Tensor("F64", moment),
            "largest_norm": Tensor("F64", np.array([self._largest_norm])),
        }
        if self._how.f32:
            tensors["moment_error"] = Tensor("F64", np.array([2.0**-24]))
        if any(self._masked):
            tensors["masked"] = _longs(self._masked)
        if mask.token_ids:
            tensors["mask_token_ids"] = _longs(sorted(mask.token_ids))
        if mask.norm is not None:
            tensors["mask_norm"] = Tensor("F64", np.array([mask.norm]))
        if self.rows:
            tensors.update(self._sample.tensors())
            tensors.update(self._totals.tensors())
        return tensors


@dataclass(frozen=True)
class _Entering:
    """Rows on their way into the sample, and of each its hash, request and time."""

    hashes: Array
    requests: Array
    times: Array
    rows: list[Tensor]


class _Sample:
    """The rows with the smallest hashes, at most so many: a uniform sample that merges with any other."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._threshold = _LARGEST_HASH
        self._hashes: list[Array] = []
        self._requests: list[Array] = []
        self._times: list[Array] = []
        self._rows: list[list[Tensor]] = []

    @property
    def bytes(self) -> int:
        return sum(tensor.nbytes for part in self._rows for tensor in part)

    def entering(self, kept: Kept, requests: Array, record: int, event_time: int) -> _Entering | None:
        """Returns copies of the rows that enter the sample, and leaves the sample as it is."""
        hashes = row_hashes(record, int(kept.wide.shape[0]))
        entering = np.flatnonzero(hashes < self._threshold)
        if len(entering) == 0:
            return None
        tensors = [kept.activations] if kept.targets is None else [kept.activations, kept.targets]
        return _Entering(
            hashes[entering],
            requests[entering],
            np.full(len(entering), event_time, dtype=np.int64),
            [host_rows(values, entering) for values in tensors],
        )

    def take(self, entering: _Entering) -> None:
        self._hashes.append(entering.hashes)
        self._requests.append(entering.requests)
        self._times.append(entering.times)
        self._rows.append(entering.rows)
        if sum(map(len, self._hashes)) >= 2 * self._capacity:
            self._shrink()

    def _shrink(self) -> None:
        hashes = np.concatenate(self._hashes)
        order = np.argsort(hashes, kind="stable")[: self._capacity]
        self._hashes = [hashes[order]]
        self._requests = [np.concatenate(self._requests)[order]]
        self._times = [np.concatenate(self._times)[order]]
        self._rows = [[_joined([part[i] for part in self._rows], order) for i in range(len(self._rows[0]))]]
        if len(order) == self._capacity:
            self._threshold = int(self._hashes[0][-1])

    def tensors(self) -> dict[str, Tensor]:
        self._shrink()
        tensors = {
            "sample_hash": Tensor("I64", self._hashes[0]),
            "sample_request": Tensor("I64", self._requests[0]),
            "sample_time": Tensor("I64", self._times[0]),
            "sample_activations": self._rows[0][0],
        }
        if len(self._rows[0]) > 1:
            tensors["sample_targets"] = self._rows[0][1]
        return tensors


def _joined(parts: list[Tensor], order: Array) -> Tensor:
    """Returns chosen rows of all parts: in their type where they share one, else in a type that holds them all."""
    types = {part.dtype for part in parts}
    if len(types) == 1:
        return parts[0].with_values(np.concatenate([part.values for part in parts])[order])
    wide = np.float64 if "F64" in types else np.float32
    return tensor_of(np.concatenate([part.widened().astype(wide) for part in parts])[order])


def _longs(values: list[int]) -> Tensor:
    return Tensor("I64", np.array(values, dtype="<i8"))
