"""Names of rows and requests as 64-bit numbers, the same in every program that sends or reads moment records."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """Returns SplitMix64's mixture of an unsigned number."""
    z = (value + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def signed(value: int) -> int:
    """Returns an unsigned number of 64 bits as the signed one of the same bits."""
    return value - (1 << 64) if value >> 63 else value


def record_hash(producer: int, batch: int) -> int:
    """Returns the hash of a batch, unsigned: of an accumulator's own number and the batch's number in it."""
    return mix(mix(producer & _MASK) ^ batch)


def mixed(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Returns SplitMix64's mixtures of 64-bit numbers, signed or not, as signed ones."""
    with np.errstate(over="ignore"):
        z = values.astype(np.uint64) + np.uint64(_GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
        z = z ^ (z >> np.uint64(31))
    hashes: npt.NDArray[np.int64] = z.view(np.int64)
    return hashes


def row_hashes(record: int, rows: int) -> npt.NDArray[np.int64]:
    """Returns the hashes of rows 0 to `rows` - 1 of a batch, signed."""
    return mixed(np.arange(rows, dtype=np.uint64) ^ np.uint64(mix(record)))


def request_hash(name: str) -> int:
    """Returns the number of a request, signed, from the UTF-16 units of its name."""
    h = _FNV_OFFSET
    units = name.encode("utf-16-le", "surrogatepass")
    for index in range(0, len(units), 2):
        h = ((h ^ int.from_bytes(units[index : index + 2], "little")) * _FNV_PRIME) & _MASK
    return signed(mix(h))
