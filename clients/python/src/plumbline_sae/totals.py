"""The totals of single requests that travel with a moment: rows and their sum, of a sample of the requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .hashes import mix, mixed, signed
from .rows import add_rows, clear, on_host, take, zeros
from .tensors import Array, Tensor

MOST = 1_024
"""The most requests whose totals a record has."""

_MOST_BYTES = 1 << 20
_LONGEST_NAME = 64
_NAMES_OF_A_TOTAL = 4 * 8 + 4 * _LONGEST_NAME
_WORDS = 1 << 64
_NO_LIMIT = np.iinfo(np.int64).max
_KNOWN_APART = 1_024
"""Requests that are remembered beside four times those that have a total, before the others are forgotten."""


def total_bytes(width: int) -> int:
    """Returns the bytes of a request's total on the wire, at most."""
    return _NAMES_OF_A_TOTAL + 4 * width


def most_totals(width: int, asked: int = MOST) -> int:
    """Returns how many requests a record has totals of: no more than 1,024, and than take 1 MiB."""
    return min(asked, MOST, max(1, _MOST_BYTES // total_bytes(width)))


class RequestTotals:
    """Rows and sums of the `capacity` requests whose mixed hashes are smallest, where the rows are, in float64.

    What leaves stays out, hence each has all its rows: no other request has a mixed hash up to `limit`.
    """

    def __init__(self, capacity: int, width: int, rows: Any) -> None:
        self._capacity = capacity
        self.limit = _NO_LIMIT
        # The mixed hashes, ascending, with the request of each and the slot of its rows and sum.
        self._mixed: Array = np.empty(0, dtype=np.int64)
        self.requests: Array = np.empty(0, dtype=np.int64)
        self._slots: Array = np.empty(0, dtype=np.int64)
        self._rows: Array = np.zeros(capacity, dtype=np.int64)
        self._sums = zeros(rows, capacity, width)

    @property
    def rows(self) -> Array:
        """Returns how many rows each request has."""
        return self._rows[self._slots]

    @property
    def sums(self) -> Any:
        """Returns the sum of each request's rows, on the host."""
        return on_host(take(self._sums, self._slots))

    @property
    def bytes(self) -> int:
        """Returns the bytes of the sums."""
        return 8 * int(self._sums.shape[0]) * int(self._sums.shape[1])

    def add(self, rows: Any, requests: Array, counts: Array | None = None) -> None:
        """Adds rows, or sums of so many rows.

        Args:
            rows: [n, width], of the device and kind that this was made for.
            requests: the hash of each row's request.
            counts: rows that each stands for; default: one.
        """
        names, owner = np.unique(requests, return_inverse=True)
        hashes = mixed(names)
        new = (self._slots_of(hashes) < 0) & (hashes <= self.limit)
        if new.any():
            self._enter(hashes[new], names[new])
        slots = self._slots_of(hashes)[owner.reshape(-1)]
        chosen = np.flatnonzero(slots >= 0)
        if len(chosen) == 0:
            return
        if len(chosen) < len(slots):
            rows, slots = take(rows, chosen), slots[chosen]
            counts = None if counts is None else counts[chosen]
        add_rows(self._sums, slots, rows)
        np.add.at(self._rows, slots, 1 if counts is None else counts)

    def _slots_of(self, hashes: Array) -> Array:
        """Returns the slot of each request, or -1 where it has none."""
        if len(self._mixed) == 0:
            return np.full(len(hashes), -1)
        place = np.minimum(np.searchsorted(self._mixed, hashes), len(self._mixed) - 1)
        return np.where(self._mixed[place] == hashes, self._slots[place], -1)

    def _enter(self, hashes: Array, requests: Array) -> None:
        """Makes room for requests that are not here; those with the largest mixed hashes leave."""
        every = np.concatenate([self._mixed, hashes])
        order = np.argsort(every)[: self._capacity]
        entering = order >= len(self._mixed)
        slots = np.zeros(len(order), dtype=np.int64)
        slots[~entering] = self._slots[order[~entering]]
        free = np.setdiff1d(np.arange(self._capacity), slots[~entering])[: int(entering.sum())]
        slots[entering] = free
        clear(self._sums, free)
        self._rows[free] = 0
        self.requests = np.concatenate([self.requests, requests])[order]
        self._mixed, self._slots = every[order], slots
        if len(every) > self._capacity:
            self.limit = int(self._mixed[-1])


class OpenTotals:
    """The totals of a pane: sums by device, and of each request its name and how many row records its rows are."""

    def __init__(self, asked: int, width: int) -> None:
        self._capacity = most_totals(width, asked)
        self._width = width
        self._homes: dict[Any, RequestTotals] = {}
        self._known: dict[int, tuple[str | None, int]] = {}

    @property
    def bytes(self) -> int:
        """Returns the bytes of the sums."""
        return sum(totals.bytes for totals in self._homes.values())

    def add(self, home: Any, rows: Any, requests: Array) -> None:
        """Adds rows; their requests may be counted later."""
        if self._capacity == 0:
            return
        if home not in self._homes:
            self._homes[home] = RequestTotals(self._capacity, self._width, rows)
        self._homes[home].add(rows, requests)

    def count(self, requests: list[int], names: Mapping[int, str]) -> None:
        """Counts a row record of each of these requests."""
        if self._capacity == 0:
            return
        for request in requests:
            _, before = self._known.get(request, (None, 0))
            self._known[request] = (names.get(request), before + 1)
        if len(self._known) > 4 * self._capacity + _KNOWN_APART:
            # Rows that wait are of requests that are here yet: the limit only falls.
            limit = min((totals.limit for totals in self._homes.values()), default=_NO_LIMIT)
            self._known = {known: word for known, word in self._known.items() if signed(mix(known % _WORDS)) <= limit}

    def tensors(self) -> dict[str, Tensor]:
        """Returns the tensors of a record; none where there are no totals."""
        if not self._homes:
            return {}
        every = RequestTotals(self._capacity, self._width, np.empty(0))
        every.limit = min(totals.limit for totals in self._homes.values())
        for totals in self._homes.values():
            every.add(totals.sums, totals.requests, totals.rows)
        said = [self._known[request] for request in every.requests.tolist()]
        texts = [None if name is None else _code_points(name) for name, _ in said]
        lengths = [-1 if text is None else len(text) for text in texts]
        records = [count for _, count in said]
        sums = every.sums
        dtype = "F32" if np.abs(sums).max(initial=0.0) <= np.finfo(np.float32).max else "F64"
        return {
            "total_request": Tensor("I64", every.requests),
            "total_counts": Tensor("I64", np.stack([records, every.rows, lengths], axis=1).astype("<i8")),
            "total_names": Tensor("I32", np.concatenate([text for text in texts if text is not None] or [_NO_TEXT])),
            "total_sum": Tensor(dtype, sums.astype("<f4" if dtype == "F32" else "<f8")),
        }


_NO_TEXT: Array = np.empty(0, dtype="<i4")


def _code_points(name: str) -> Array:
    """Returns the code points of a name's first 64 UTF-16 units, without half of a surrogate pair."""
    text = name.encode("utf-16-le", "surrogatepass")[: 2 * _LONGEST_NAME].decode("utf-16-le", "ignore")
    return np.frombuffer(text.encode("utf-32-le"), dtype="<i4")
