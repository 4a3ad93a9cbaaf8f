"""Taps: rows for which a model has no auxiliary output, copied into buffers by an operator.

A hook that keeps a tensor does not survive: compiled, Python runs while the model is traced and never again. What
survives is an operator. The hook, registered before the model is compiled, calls `plumbline::tap`, which writes into a
buffer of the hooked module: tracing keeps the operator, and a CUDA graph replays it. A tap costs a copy on the device
and a buffer of [max_num_batched_tokens, width].
"""

from __future__ import annotations

from typing import Any

import torch

from .blocks import Point

_LIBRARY = torch.library.Library("plumbline", "FRAGMENT")


def _tap(rows: torch.Tensor, buffer: torch.Tensor) -> None:
    buffer[: rows.shape[0]].copy_(rows)


def _fake_tap(rows: torch.Tensor, buffer: torch.Tensor) -> None:
    """Writes nothing: what tracing knows of the operator is that it changes the buffer."""


if not hasattr(torch.ops.plumbline, "tap"):
    _LIBRARY.define("tap(Tensor rows, Tensor(a!) buffer) -> ()")
    _LIBRARY.impl("tap", _tap, "CompositeExplicitAutograd")
    torch.library.register_fake("plumbline::tap", _fake_tap, lib=_LIBRARY)


def install(point: Point, buffer: torch.Tensor) -> None:
    """Lets a module copy the rows of each of its calls into the first rows of a buffer, which becomes a part of it."""
    point.module.register_buffer(point.name, buffer, persistent=False)

    def before(module: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        torch.ops.plumbline.tap(point.rows_in(inputs, kwargs), getattr(module, point.name))

    def after(module: Any, inputs: Any, output: Any) -> None:
        torch.ops.plumbline.tap(point.rows_out(output), getattr(module, point.name))

    if point.reads is None:
        point.module.register_forward_hook(after)
    else:
        point.module.register_forward_pre_hook(before, with_kwargs=True)
