"""Second moments instead of rows: what a minute of a site comes to, added up where the activations are.

At d = 4,096 and 10,000 tokens a second a minute of rows has 4.9 GB in bfloat16; its second moment has 67 MB. The record
is described in the product's docs/reference/moment-records.md.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .hashes import record_hash, request_hash, row_hashes, signed
from .producer import Producer
from .tensors import FLOATS, Array, Tensor, encode, tensor_of

_LOG = logging.getLogger(__name__)

BLOCK_ROWS = 128
"""Rows whose products are summed in float32 before they are added in float64."""

_STRIP = 512
"""Columns of the moment that are computed at a time: what is above the diagonal is left out by strips."""

_HEADER_ALLOWANCE = 65_536
_NAMES_OF_A_ROW = 24
"""Bytes of a sampled row's hash, request and time."""

_LARGEST_HASH = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Mask:
    """Rows that enter no sum. It must be the site's `mask`: the service refuses moments of another one.

    Attributes:
        token_ids: `mask.token_ids` of the site.
        norm: the Euclidean norm above which a target row is left out, or None.
    """

    token_ids: tuple[int, ...] = ()
    norm: float | None = None

    @classmethod
    def of_baseline(cls, baseline: str | Path, norm_cap: float, token_ids: Collection[int] = ()) -> Mask:
        """Returns the mask of a site with `mask: {token_ids: ..., norm_cap: ...}` and this baseline file.

        Raises:
            ValueError: when the baseline does not say how long its median row is.
        """
        from safetensors import safe_open

        with safe_open(str(baseline), framework="numpy") as file:
            if "median_norm" not in file.keys():  # noqa: SIM118  # no mapping
                raise ValueError(f"{baseline}: has no tensor median_norm; run `plumbline baseline` again")
            median = float(file.get_tensor("median_norm").reshape(-1)[0])
        return cls(tuple(sorted(set(token_ids))), norm_cap * median)


@dataclass(frozen=True)
class Accumulation:
    """How a site's rows are added up.

    Attributes:
        pane_ms: length of a pane: it must divide the greatest common divisor of `window.size` and `window.advance`.
        sample_rows: raw rows that travel with a moment, at most; the service's own `sample.rows` is 4,096.
        mask: the site's mask.
        f32: whether the moment travels as float32, half as long; its error bound travels with it.
    """

    pane_ms: int
    sample_rows: int = 4_096
    mask: Mask = field(default_factory=Mask)
    f32: bool = False

    def __post_init__(self) -> None:
        if self.pane_ms < 1 or self.sample_rows < 1:
            raise ValueError(f"pane_ms = {self.pane_ms}, sample_rows = {self.sample_rows}: expected at least 1")


class MomentAccumulator:
    """Adds up the rows of sites and sends their moments, one record a site and pane. Takes the place of a `Producer`.

        moments = MomentAccumulator(producer, {"residual.5": Accumulation(pane_ms=60_000)})
        with capture(model, moments, {"residual.5": "blocks.5.hook_resid_post"}) as captured: ...

    Rows are numpy arrays, or torch tensors of any device: products are summed where the rows are, in float32 (float64
    rows: in float64), at most 128 at a time, and these sums are added in float64. A pane leaves when rows of a later
    one come, when its time is over, when the open panes together are too large, and at `close`. A process that is
    killed loses what it had open. Ranks that hold all columns of their own rows each have an accumulator of their own.

    Size: 8 d² bytes a site and open pane, and `sample_rows` rows. Thread-safe.

    Args:
        producer: where records go; its `message.max.bytes` and `max_buffered_bytes` must hold one.
        sites: how each site's rows are added up.
        max_bytes: bytes of open panes; beyond them the oldest leaves before its time.
        linger_ms: how long a pane whose time is over waits for more rows.
        headers: sent with every record.
    """

    def __init__(
        self,
        producer: Producer,
        sites: Mapping[str, Accumulation],
        *,
        max_bytes: int = 2 << 30,
        linger_ms: int = 1_000,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._producer = producer
        self._sites = dict(sites)
        self._max_bytes = max_bytes
        self._linger_ms = linger_ms
        self._headers = dict(headers or {})
        self._number = secrets.randbits(64)
        self._batches = 0
        self._sent = 0
        self._panes: dict[tuple[str, int], _Pane] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._timer = threading.Thread(target=self._tick, name="plumbline-moments", daemon=True)
        self._timer.start()

    def send(
        self,
        site: str,
        request: str,
        activations: Any,
        *,
        targets: Any = None,
        token_ids: Any = None,
        special: Any = None,
        timestamp_ms: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bool:
        """Adds one request's rows, or some of them; never raises.

        Args:
            site: one of the sites this accumulator was made with.
            request: the request's name.
            activations: [rows, width], numpy or torch, in a float type.
            targets: [rows, width written], for a transcoder: what is summed.
            token_ids: integers [rows]; needed where the mask names tokens.
            special: booleans [rows]: these rows are left out, and are not counted as masked.
            timestamp_ms: event time; default: now.
            headers: not used: a moment is of many requests.

        Returns:
            False when the rows were refused: they do not fit, or one is not finite.
        """
        event_time = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
        try:
            rows = _Rows.of(activations, targets, token_ids, special)
            with self._lock:
                self._add(site, request, rows, event_time)
            return True
        except Exception as error:
            self._producer.count_refused(site, request, error)
            return False

    def count_dropped(self, site: str, request: str, rows: int, reason: str) -> None:
        """Counts rows that somebody else gave up."""
        self._producer.count_dropped(site, request, rows, reason)

    def flush(self, timeout: float = 10.0) -> int:
        """Sends what is open, also of panes whose time is not over, and waits as `Producer.flush` does."""
        with self._lock:
            for key in sorted(self._panes, key=lambda known: known[1]):
                self._leave(key)
        return self._producer.flush(timeout)

    def close(self) -> None:
        """Sends what is open and ends the timer; the producer stays open."""
        self._closed.set()
        self._timer.join()
        self.flush()

    def __enter__(self) -> MomentAccumulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _add(self, site: str, request: str, rows: _Rows, event_time: int) -> None:
        how = self._sites.get(site)
        if how is None:
            raise ValueError(f"is not among the sites that are added up, {sorted(self._sites)}")
        kept = _Kept.of(rows, how.mask)
        start = event_time - event_time % how.pane_ms
        pane = self._panes.get((site, start))
        if pane is None:
            self._require_room(kept.width, how, rows)
            for key in [key for key in self._panes if key[0] == site and key[1] < start]:
                self._leave(key)
            pane = self._panes[site, start] = _Pane(start, how, kept.width)
        pane.add(kept, request, record_hash(self._number, self._batches), event_time)
        self._batches += 1
        while len(self._panes) > 1 and sum(open_.bytes for open_ in self._panes.values()) > self._max_bytes:
            self._leave(min(self._panes, key=lambda key: key[1]))

    def _require_room(self, width: int, how: Accumulation, rows: _Rows) -> None:
        size = (4 if how.f32 else 8) * (width * (width + 1) // 2 + width) + how.sample_rows * rows.row_bytes
        self._producer.require_room(size + _HEADER_ALLOWANCE)

    def _leave(self, key: tuple[str, int]) -> None:
        pane = self._panes.pop(key)
        self._sent += 1
        name = f"{self._number:016x}-{self._sent}"
        self._producer.send_value(
            key[0],
            encode(pane.tensors()),
            rows=pane.rows,
            key=f"{self._number:016x}",
            timestamp_ms=pane.newest,
            headers={**self._headers, "record_id": name},
        )

    def _tick(self) -> None:
        while not self._closed.wait(min(1.0, self._linger_ms / 1000)):
            now = int(time.time() * 1000)
            with self._lock:
                for key in [key for key, pane in self._panes.items() if pane.is_over(now, self._linger_ms)]:
                    self._leave(key)


@dataclass(frozen=True)
class _Rows:
    """A batch as it came: numpy arrays or torch tensors."""

    activations: Any
    targets: Any
    token_ids: Array | None

    @property
    def row_bytes(self) -> int:
        """Returns the bytes of a row in the sample."""
        parts = [self.activations] if self.targets is None else [self.activations, self.targets]
        return _NAMES_OF_A_ROW + sum(int(part.shape[1]) * _bytes_of_a_value(part) for part in parts)

    @classmethod
    def of(cls, activations: Any, targets: Any, token_ids: Any, special: Any) -> _Rows:
        found = [_matrix("activations", activations), None if targets is None else _matrix("targets", targets)]
        ids = None if token_ids is None else tensor_of(token_ids).values.astype(np.int64)
        count = found[0].shape[0]
        for name, values in (("targets", found[1]), ("token_ids", ids)):
            if values is not None and values.shape[0] != count:
                raise ValueError(f"{name} has {values.shape[0]} entries, the activations {count} rows")
        if special is not None:
            keep = np.flatnonzero(~tensor_of(special).values.astype(bool))
            found = [None if values is None else _take(values, keep) for values in found]
            ids = None if ids is None else ids[keep]
        return cls(found[0], found[1], ids)


def _matrix(name: str, value: Any) -> Any:
    """Returns rows as a torch tensor where they are one, else as a `Tensor`."""
    if type(value).__module__.split(".")[0] == "torch":
        if not value.is_floating_point() or value.ndim != 2:
            raise ValueError(f"{name} are {value.dtype} {list(value.shape)}, expected floating point [rows, width]")
        return value.detach()
    tensor = tensor_of(value)
    if tensor.dtype not in FLOATS or len(tensor.shape) != 2:
        raise ValueError(f"{name} are {tensor.dtype} {list(tensor.shape)}, expected floating point [rows, width]")
    return tensor


def _bytes_of_a_value(values: Any) -> int:
    return values.values.itemsize if isinstance(values, Tensor) else int(values.element_size())


def _take(values: Any, rows: Array) -> Any:
    if isinstance(values, Tensor):
        return values.with_values(values.values[rows])
    import torch

    return values.index_select(0, torch.from_numpy(rows).to(values.device))


def _wide(values: Any) -> Any:
    """Returns rows as numbers to multiply: float64 where they are, else float32."""
    if isinstance(values, Tensor):
        return values.values if values.dtype == "F64" else values.widened().astype(np.float32, copy=False)
    import torch

    if values.dtype == torch.float64 or not _multiplies_exactly(values):
        return values.double()
    return values.float()


def _multiplies_exactly(values: Any) -> bool:
    """Returns whether float32 products are computed in float32, and not in TF32 or bfloat16."""
    import torch

    if torch.get_float32_matmul_precision() != "highest":
        return False
    return not (values.is_cuda and torch.backends.cuda.matmul.allow_tf32)


@dataclass(frozen=True)
class _Kept:
    """The rows of a batch that the mask leaves, and what it took."""

    activations: Any
    targets: Any
    wide: Any
    norms: Array
    by_token: int
    by_norm: int

    @property
    def width(self) -> int:
        return int(self.wide.shape[1])

    @classmethod
    def of(cls, rows: _Rows, mask: Mask) -> _Kept:
        target = rows.activations if rows.targets is None else rows.targets
        count = int(target.shape[0])
        masked = np.zeros(count, dtype=bool)
        if mask.token_ids:
            if rows.token_ids is None:
                raise ValueError(f"the mask names tokens {list(mask.token_ids)}, and the rows come without token_ids")
            masked = np.isin(rows.token_ids, mask.token_ids)
        by_token = int(masked.sum())
        wide = _wide(target)
        norms = _norms(wide)
        finite = norms if rows.targets is None else norms + _norms(_wide(rows.activations))
        if not np.isfinite(finite).all():
            bad = int(np.flatnonzero(~np.isfinite(finite))[0])
            raise ValueError(f"row {bad} holds a value that is not finite; no row of the batch was added")
        if mask.norm is not None:
            masked = masked | (norms > mask.norm)
        if not masked.any():
            return cls(rows.activations, rows.targets, wide, norms, 0, 0)
        keep = np.flatnonzero(~masked)
        return cls(
            _take(rows.activations, keep),
            None if rows.targets is None else _take(rows.targets, keep),
            wide[keep] if isinstance(wide, np.ndarray) else _take(wide, keep),
            norms[keep],
            by_token,
            int(masked.sum()) - by_token,
        )


def _norms(wide: Any) -> Array:
    """Returns the Euclidean norm of each row, in float64; a row with a value beyond float32 has an infinite one."""
    if isinstance(wide, np.ndarray):
        norms: Array = np.sqrt(np.einsum("ij,ij->i", wide, wide, dtype=np.float64))
        if wide.dtype == np.float64:
            norms[np.abs(wide).max(axis=1, initial=0.0) > np.finfo(np.float32).max] = np.inf
        return norms
    import torch

    found = torch.linalg.vector_norm(wide, dim=1, dtype=torch.float64)
    if wide.dtype == torch.float64 and wide.shape[0]:
        found = found.masked_fill(wide.abs().amax(dim=1) > torch.finfo(torch.float32).max, torch.inf)
    return np.asarray(found.cpu().numpy())


class _Pane:
    """The sums and the sample of one site and pane. The caller holds the lock."""

    def __init__(self, start: int, how: Accumulation, width: int) -> None:
        self._start = start
        self._how = how
        self._width = width
        self.newest = start
        self.rows = 0
        self._requests = 0
        self._masked = [0, 0]
        self._largest_norm = 0.0
        self._touched = time.monotonic()
        # One set of sums for each device that rows came from.
        self._sums: dict[Any, tuple[Any, Any]] = {}
        self._buffers: dict[Any, list[Any]] = {}
        self._sample = _Sample(how.sample_rows)

    @property
    def bytes(self) -> int:
        """Returns the bytes of the sums and of the sample."""
        return len(self._sums) * 8 * self._width * (self._width + 1) + self._sample.bytes

    def is_over(self, now_ms: int, linger_ms: int) -> bool:
        """Returns whether the pane's time is over and no row came for a while."""
        over = now_ms >= self._start + self._how.pane_ms
        return over and (time.monotonic() - self._touched) * 1000 >= linger_ms

    def add(self, kept: _Kept, request: str, record: int, event_time: int) -> None:
        if kept.width != self._width:
            raise ValueError(f"rows of {kept.width} columns, those before had {self._width}")
        self._sample.offer(kept, request, record, event_time)
        self._masked[0] += kept.by_token
        self._masked[1] += kept.by_norm
        self.newest = max(self.newest, event_time)
        self._touched = time.monotonic()
        count = int(kept.wide.shape[0])
        if count == 0:
            return
        self.rows += count
        self._requests += 1
        self._largest_norm = max(self._largest_norm, float(kept.norms.max()))
        self._sum(kept.wide)

    def _sum(self, wide: Any) -> None:
        """Adds rows in blocks of 128; what is left over waits for the next ones, so that small batches cost no more."""
        where = _where(wide)
        waiting = self._buffers.setdefault(where, [])
        if sum(part.shape[0] for part in waiting) + wide.shape[0] < BLOCK_ROWS:
            waiting.append(_copy(wide))  # the caller may overwrite its rows
            return
        rows = _concatenated([*waiting, wide])
        whole = rows.shape[0] - rows.shape[0] % BLOCK_ROWS
        for first in range(0, whole, BLOCK_ROWS):
            self._block(where, rows[first : first + BLOCK_ROWS])
        self._buffers[where] = [_copy(rows[whole:])] if whole < rows.shape[0] else []

    def _block(self, where: Any, rows: Any) -> None:
        if where not in self._sums:
            self._sums[where] = _zeros(rows, self._width)
        total, moment = self._sums[where]
        total += rows.sum(0, dtype=total.dtype)
        for first in range(0, self._width, _STRIP):
            end = min(first + _STRIP, self._width)
            moment[first:end, :end] += rows[:, first:end].T @ rows[:, :end]

    def tensors(self) -> dict[str, Tensor]:
        """Returns the record's tensors."""
        for where, waiting in self._buffers.items():
            if waiting:
                self._block(where, _concatenated(waiting))
        self._buffers = {}
        total = np.zeros(self._width)
        moment = np.zeros(self._width * (self._width + 1) // 2)
        for part, triangle in self._sums.values():
            total += _on_host(part)
            moment += _on_host(triangle)[np.tril_indices(self._width)]
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
        return tensors


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

    def offer(self, kept: _Kept, request: str, record: int, event_time: int) -> None:
        hashes = row_hashes(record, int(kept.wide.shape[0]))
        entering = np.flatnonzero(hashes < self._threshold)
        if len(entering) == 0:
            return
        group = request_hash(request) if request else signed(record)
        self._hashes.append(hashes[entering])
        self._requests.append(np.full(len(entering), group, dtype=np.int64))
        self._times.append(np.full(len(entering), event_time, dtype=np.int64))
        tensors = [kept.activations] if kept.targets is None else [kept.activations, kept.targets]
        self._rows.append([_host_rows(values, entering) for values in tensors])
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


def _host_rows(values: Any, rows: Array) -> Tensor:
    taken = tensor_of(_take(values, rows))
    return taken.with_values(np.array(taken.values))


def _longs(values: list[int]) -> Tensor:
    return Tensor("I64", np.array(values, dtype="<i8"))


def _where(wide: Any) -> Any:
    """Returns what tells one set of sums from another: the device and the type of rows."""
    return (str(wide.dtype), str(getattr(wide, "device", "numpy")))


def _copy(wide: Any) -> Any:
    return wide.copy() if isinstance(wide, np.ndarray) else wide.clone()


def _concatenated(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import torch

    return torch.cat(parts)


def _zeros(rows: Any, width: int) -> tuple[Any, Any]:
    """Returns a vector and a matrix of zeros in float64, where the rows are."""
    if isinstance(rows, np.ndarray):
        return np.zeros(width), np.zeros((width, width))
    import torch

    options = {"dtype": torch.float64, "device": rows.device}
    return torch.zeros(width, **options), torch.zeros((width, width), **options)


def _on_host(values: Any) -> Array:
    return np.asarray(values if isinstance(values, np.ndarray) else values.cpu().numpy())
