"""Tensors as bytes: what travels in a record, a dump and a decoder.

safetensors' own numpy functions know no bfloat16, and neither does numpy. Here a bfloat16 tensor is held as its 16-bit
patterns (`numpy.uint16`), so that it is sent as it is: no copy in float32, no rounding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
from safetensors import SafetensorError

Array = npt.NDArray[Any]

_NUMPY_OF = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "F8_E4M3": "|u1"} | {
    "I64": "<i8",
    "I32": "<i4",
    "U8": "|u1",
}
_PATTERNS = ("BF16", "F8_E4M3")
"""Types that numpy has not: held as their bit patterns."""

_DTYPE_OF = {np.dtype(name): dtype for dtype, name in _NUMPY_OF.items() if dtype not in _PATTERNS}
FLOATS = ("F64", "F32", "F16", "BF16")
_ALIGNMENT = 8
_deserialize: Any = safetensors.deserialize


@dataclass(frozen=True)
class Tensor:
    """A tensor and how its values are stored.

    Attributes:
        dtype: safetensors' name of the type, such as `BF16`.
        values: the values; of `BF16` and `F8_E4M3` their bit patterns, as `numpy.uint16` and `numpy.uint8`.
    """

    dtype: str
    values: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the lengths of the axes."""
        return tuple(self.values.shape)

    @property
    def nbytes(self) -> int:
        """Returns the number of bytes that the values take on the wire."""
        return int(self.values.nbytes)

    def with_values(self, values: Array) -> Tensor:
        """Returns a tensor of this type that holds other values of it, such as some of its rows."""
        return Tensor(self.dtype, values)

    def widened(self) -> Array:
        """Returns the values as numbers: bfloat16 as float32, which is exact, and other types as they are."""
        if self.dtype != "BF16":
            return self.values
        return (self.values.astype(np.uint32) << 16).view(np.float32)


def tensor_of(value: Any) -> Tensor:
    """Returns a numpy or JAX array, a torch tensor of any device, or nested lists, as a `Tensor`; float types are kept.

    A numpy array is not copied; of a torch tensor, neither, where it is contiguous and on the CPU.

    Raises:
        TypeError: for a type of number that safetensors has no place for here.
    """
    if isinstance(value, Tensor):
        return value
    if type(value).__module__.split(".")[0] == "torch":
        return _of_torch(value)
    array = np.asarray(value)
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    if array.dtype.name == "bfloat16":  # of ml_dtypes, which JAX's arrays become here
        return Tensor("BF16", array.view(np.uint16))
    dtype = _DTYPE_OF.get(array.dtype)
    if dtype is None:
        raise _type_error(array.dtype.name)
    return Tensor(dtype, array)


def _type_error(name: str) -> TypeError:
    advice = "; multiply 8-bit values by their scale and send bfloat16" if name.startswith("float8") else ""
    return TypeError(f"numbers of type {name}: expected float64, float32, float16, bfloat16, int64 or int32{advice}")


def _of_torch(value: Any) -> Tensor:
    import torch  # only where the caller has it loaded already

    tensor = value.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return Tensor("BF16", tensor.contiguous().view(torch.int16).numpy().view(np.uint16))
    if str(tensor.dtype).startswith("torch.float8"):
        raise _type_error(str(tensor.dtype).removeprefix("torch."))
    if tensor.dtype == torch.bool:
        tensor = tensor.to(torch.uint8)
    return tensor_of(tensor.numpy())


def encode(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Returns a safetensors blob of the tensors, in their order, with the metadata in its header."""
    parts: list[bytes | memoryview] = [_header(tensors, metadata)]
    for tensor in tensors.values():
        values = np.ascontiguousarray(tensor.values)
        parts.append(values.reshape(-1).view(np.uint8).data if values.nbytes else b"")
    return b"".join(parts)


def encoded_bytes(tensors: Mapping[str, Tensor]) -> int:
    """Returns the length of the blob that `encode` makes of the tensors, without making it."""
    return len(_header(tensors, None)) + sum(tensor.nbytes for tensor in tensors.values())


def _header(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> bytes:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    offset = 0
    for name, tensor in tensors.items():
        end = offset + tensor.nbytes
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.values.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def decode(blob: bytes) -> dict[str, Tensor]:
    """Returns the tensors of a safetensors blob, without copying their values.

    Raises:
        ValueError: when the blob is no sound safetensors, or holds a type of number this package has no use for.
    """
    try:
        found = _deserialize(blob)
    except SafetensorError as error:
        raise ValueError(f"cannot be read: {error}") from None
    tensors = {}
    for name, entry in found:
        dtype = entry["dtype"]
        if dtype not in _NUMPY_OF:
            raise ValueError(f"tensor {name!r} is of type {dtype}, expected one of {', '.join(_NUMPY_OF)}")
        tensors[name] = Tensor(dtype, np.frombuffer(entry["data"], dtype=_NUMPY_OF[dtype]).reshape(entry["shape"]))
    return tensors


def metadata_of(blob: bytes) -> dict[str, str]:
    """Returns the metadata in the header of a sound safetensors blob; empty where it has none."""
    length = int.from_bytes(blob[:8], "little")
    found = json.loads(blob[8 : 8 + length]).get("__metadata__", {})
    return {str(key): str(value) for key, value in found.items()}


def identity(W_dec: Array, b_dec: Array) -> str:
    """Returns the identity of a decoder: SHA-256 of `W_dec`, then `b_dec`, as little-endian float32, row by row."""
    digest = hashlib.sha256()
    for values in (W_dec, b_dec):
        digest.update(np.ascontiguousarray(values, dtype="<f4").tobytes())
    return digest.hexdigest()
