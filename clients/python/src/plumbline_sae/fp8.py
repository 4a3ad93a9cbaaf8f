"""Hidden states in 8 bits, as the `fp8` connector of hs-connectors writes them: one scale for each token."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .tensors import Array, Tensor, tensor_of

SCALES = "hidden_states_scales"


def _values() -> Array:
    """Returns what the 256 patterns of float8_e4m3fn stand for: exponents biased by 7, no infinity, one NaN."""
    bits = np.arange(256)
    exponent, mantissa = (bits >> 3) & 15, bits & 7
    normal = np.ldexp(1.0 + mantissa / 8.0, exponent - 7)
    values = np.where(exponent == 0, np.ldexp(mantissa / 8.0, -6), normal)
    values[(exponent == 15) & (mantissa == 7)] = np.nan
    return np.where(bits & 128, -values, values).astype(np.float32)


_VALUES = _values()


def hidden_states_of(tensors: Mapping[str, Tensor]) -> Tensor:
    """Returns the hidden states of a file: those of 8 bits as float32, others as they are.

    Raises:
        ValueError: when there are none, or the scales of 8-bit ones do not fit them.
    """
    if "hidden_states" not in tensors:
        raise ValueError(f"holds {sorted(tensors)}, expected hidden_states")
    states = tensors["hidden_states"]
    if states.dtype != "F8_E4M3":
        return states
    scales = tensors.get(SCALES)
    if scales is None or scales.dtype != "F32" or scales.shape != (*states.shape[:1], 1, 1):
        what = "is missing" if scales is None else f"is {scales.dtype} {list(scales.shape)}"
        raise ValueError(f"{SCALES} {what}, expected F32 [{states.shape[0]}, 1, 1] beside hidden states of 8 bits")
    return tensor_of(_VALUES[states.values] * scales.values)
