"""Copies of a step's tensors that the next step cannot overwrite. numpy arrays are taken, too, as by tests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tensors import Array


class Snapshots:
    """Copies tensors on the model's stream, and brings them to the host on a stream of its own.

    The outputs of a CUDA graph are overwritten by its next replay, so the first copy is on the model's stream: it is
    all that the model waits for. The second one goes to pinned memory beside it. Not thread-safe: one thread copies.
    """

    def __init__(self) -> None:
        self._stream: Any = None

    def take(self, given: Sequence[Any], rows: Array | None, *, to_host: bool) -> tuple[list[Any], Callable[[], None]]:
        """Returns copies, and what waits for them.

        Args:
            given: tensors of one device, each with a row a token.
            rows: the rows that are taken; None takes all.
            to_host: whether the copies are to be on the host.
        """
        if not given or isinstance(given[0], np.ndarray):
            return [values.copy() if rows is None else values[rows] for values in given], _done
        import torch

        index = None if rows is None else torch.from_numpy(rows).to(given[0].device, non_blocking=True)
        taken = [values.clone() if index is None else values.index_select(0, index) for values in given]
        device = given[0].device
        if device.type == "cpu":
            return taken, _done
        if device.type != "cuda":  # no stream of its own: the copy waits for the model
            return [values.cpu() for values in taken] if to_host else taken, _done
        if self._stream is None:
            self._stream = torch.cuda.Stream(device)
        self._stream.wait_stream(torch.cuda.current_stream(device))
        event = torch.cuda.Event()
        with torch.cuda.stream(self._stream):
            for values in taken:
                values.record_stream(self._stream)
            if to_host:
                taken = [_pinned(values) for values in taken]
            event.record(self._stream)
        return taken, event.synchronize

    def stream(self) -> contextlib.AbstractContextManager[Any]:
        """Returns a context in which work on copies that stayed on the device waits for nothing of the model's."""
        if self._stream is None:
            return contextlib.nullcontext()
        import torch

        found: contextlib.AbstractContextManager[Any] = torch.cuda.stream(self._stream)
        return found


def _pinned(values: Any) -> Any:
    import torch

    host = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    host.copy_(values, non_blocking=True)
    return host


def _done() -> None:
    """Waits for nothing."""
