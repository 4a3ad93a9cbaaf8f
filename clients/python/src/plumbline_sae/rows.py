"""Rows on their way into sums: numpy arrays or torch tensors, masked, widened, brought to the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .settings import Mask
from .tensors import FLOATS, Array, Tensor, tensor_of

_NAMES_OF_A_ROW = 24
"""Bytes of a sampled row's hash, request and time."""

_TORCH_FLOATS = ("torch.float64", "torch.float32", "torch.float16", "torch.bfloat16")


@dataclass(frozen=True)
class Rows:
    """A batch as it came: numpy arrays or torch tensors."""

    activations: Any
    targets: Any
    token_ids: Array | None
    given: int
    """Rows before those of special tokens were left out."""
    requests: Array | None = None
    """The hash of each row's request, where the rows are of several."""

    @property
    def widths(self) -> tuple[int, int | None]:
        """Returns the columns of the activations and of the targets, where there are any."""
        return int(self.activations.shape[1]), None if self.targets is None else int(self.targets.shape[1])

    @property
    def row_bytes(self) -> int:
        """Returns the bytes of a row in the sample."""
        parts = [self.activations] if self.targets is None else [self.activations, self.targets]
        return _NAMES_OF_A_ROW + sum(int(part.shape[1]) * _bytes_of_a_value(part) for part in parts)

    @classmethod
    def of(cls, activations: Any, targets: Any, token_ids: Any, special: Any, requests: Array | None = None) -> Rows:
        found = [_matrix("activations", activations), None if targets is None else _matrix("targets", targets)]
        ids = None if token_ids is None else tensor_of(token_ids).values.astype(np.int64)
        count = found[0].shape[0]
        keep = None if special is None else ~tensor_of(special).values.astype(bool)
        named = (("targets", found[1]), ("token_ids", ids), ("special", keep), ("index", requests))
        for name, values in named:
            if values is not None and values.shape[0] != count:
                raise ValueError(f"{name} has {values.shape[0]} entries, the activations {count} rows")
        if keep is not None:
            rows = np.flatnonzero(keep)
            found = [None if values is None else take(values, rows) for values in found]
            ids = None if ids is None else ids[rows]
            requests = None if requests is None else requests[rows]
        return cls(found[0], found[1], ids, count, requests)


def _matrix(name: str, value: Any) -> Any:
    """Returns rows as a torch tensor where they are one, else as a `Tensor`."""
    if isinstance(value, Mapping):
        raise ValueError(f"{name} of several layers: expected the rows of one; a Producer sends those of several")
    if type(value).__module__.split(".")[0] == "torch":
        if str(value.dtype) not in _TORCH_FLOATS or value.ndim != 2 or value.shape[1] == 0:
            raise ValueError(
                f"{name} are {value.dtype} {list(value.shape)}, expected [rows, width] of {', '.join(_TORCH_FLOATS)}"
            )
        return value.detach()
    tensor = tensor_of(value)
    if tensor.dtype not in FLOATS or len(tensor.shape) != 2 or tensor.shape[1] == 0:
        raise ValueError(f"{name} are {tensor.dtype} {list(tensor.shape)}, expected floating point [rows, width]")
    return tensor


def _bytes_of_a_value(values: Any) -> int:
    return values.values.itemsize if isinstance(values, Tensor) else int(values.element_size())


def take(values: Any, rows: Array) -> Any:
    """Returns some of the rows, in this order."""
    if isinstance(values, np.ndarray):
        return values[rows]
    if isinstance(values, Tensor):
        return values.with_values(values.values[rows])
    import torch

    return values.index_select(0, torch.from_numpy(rows).to(values.device))


def widened(values: Any) -> Any:
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
class Kept:
    """The rows of a batch that the mask leaves, and what it took."""

    activations: Any
    targets: Any
    wide: Any
    norms: Array
    by_token: int
    by_norm: int
    requests: Array | None

    @property
    def width(self) -> int:
        return int(self.wide.shape[1])

    @classmethod
    def of(cls, rows: Rows, mask: Mask) -> Kept:
        target = rows.activations if rows.targets is None else rows.targets
        count = int(target.shape[0])
        masked: Array = np.zeros(count, dtype=bool)
        if mask.token_ids:
            if rows.token_ids is None:
                raise ValueError(f"the mask names tokens {list(mask.token_ids)}, and the rows come without token_ids")
            masked = np.isin(rows.token_ids, mask.token_ids)
        by_token = int(masked.sum())
        wide = widened(target)
        norms = _norms(wide)
        finite = norms if rows.targets is None else norms + _norms(widened(rows.activations))
        if not np.isfinite(finite).all():
            bad = int(np.flatnonzero(~np.isfinite(finite))[0])
            raise ValueError(f"row {bad} holds a value that is not finite; no row of the batch was added")
        if mask.norm is not None:
            masked = masked | (norms > mask.norm)
        if not masked.any():
            return cls(rows.activations, rows.targets, wide, norms, 0, 0, rows.requests)
        keep = np.flatnonzero(~masked)
        return cls(
            take(rows.activations, keep),
            None if rows.targets is None else take(rows.targets, keep),
            take(wide, keep),
            norms[keep],
            by_token,
            int(masked.sum()) - by_token,
            None if rows.requests is None else rows.requests[keep],
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


def host_rows(values: Any, rows: Array) -> Tensor:
    taken = tensor_of(take(values, rows))
    return taken.with_values(np.array(taken.values))


def home_of(wide: Any) -> Any:
    """Returns what tells one set of sums from another: the device and the type of rows."""
    return (str(wide.dtype), str(getattr(wide, "device", "numpy")))


def copy(wide: Any) -> Any:
    return wide.copy() if isinstance(wide, np.ndarray) else wide.clone()


def concatenated(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import torch

    return torch.cat(parts)


def zeros(rows: Any, *shape: int) -> Any:
    """Returns zeros in float64, where the rows are."""
    if isinstance(rows, np.ndarray):
        return np.zeros(shape)
    import torch

    return torch.zeros(shape, dtype=torch.float64, device=rows.device)


def clear(sums: Any, slots: Array) -> None:
    """Makes some sums zero."""
    if isinstance(sums, np.ndarray):
        sums[slots] = 0.0
        return
    import torch

    sums.index_fill_(0, torch.from_numpy(slots).to(sums.device), 0.0)


def add_rows(sums: Any, slots: Array, rows: Any) -> None:
    """Adds each row to the sum in its slot, in float64.

    On the host sum by sum, and at once where a sum gets one row: `numpy.add.reduceat` takes three times as long, and
    `numpy.add.at` twenty.
    """
    if isinstance(rows, np.ndarray):
        order = np.argsort(slots, kind="stable")
        starts = np.flatnonzero(np.diff(slots[order], prepend=-1))
        ends = np.append(starts[1:], len(order))
        several = ends - starts > 1
        alone = order[starts[~several]]
        sums[slots[alone]] += rows[alone]
        for start, end in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
            part = order[start:end]
            sums[slots[part[0]]] += rows[part].sum(0, dtype=np.float64)
        return
    import torch

    sums.index_add_(0, torch.from_numpy(slots).to(rows.device), rows.to(sums.dtype))


def on_host(values: Any) -> Array:
    """Returns sums on the host, after the work on them, whatever stream it is on."""
    if getattr(values, "is_cuda", False):
        import torch

        torch.cuda.synchronize(values.device)
    return np.asarray(values if isinstance(values, np.ndarray) else values.cpu().numpy())
