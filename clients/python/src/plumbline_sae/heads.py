"""Cuts the rest of a model behind a site and writes it as ONNX, for `plumbline causal`.

Needs torch, and for the export onnx and onnxscript: pip install 'plumbline-sae[heads]'.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from .additions import Addition
from .sites import Place, Site, place_of, shown_place

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 2**31 - 1
"""One ONNX file holds no more, and a head's weights must lie in its file."""


class Head(torch.nn.Module):  # type: ignore[misc]  # a module of torch, which has no types here
    """The rest of a model behind a site, of one request.

    An autoencoder's head reads `activations` [T, d]; a transcoder's reads `targets` and `residual` [T, d] and puts
    their sum in the place of the block's output. It returns `logits` [T, V].

    What lies before the site is called and its result dropped, so that an export leaves it out.
    """

    def __init__(self, model: torch.nn.Module, site: Site | str) -> None:
        super().__init__()
        self.model = model
        self.is_transcoder = isinstance(site, Site) and site.targets is not None
        self._place = _block_output(model, site) if self.is_transcoder else _place(model, site)

    def forward(self, rows: torch.Tensor, residual: torch.Tensor | None = None) -> torch.Tensor:
        if self.is_transcoder != (residual is not None):
            raise ValueError("a transcoder's head reads targets and residual, an autoencoder's reads activations alone")
        hidden = rows if residual is None else rows + residual
        # The ids decide nothing behind the site but the number of rows.
        ids = torch.zeros((1, rows.shape[0]), dtype=torch.long, device=rows.device)
        with _replaced(self._place, hidden.unsqueeze(0)):
            answer = self.model(ids)
        logits: torch.Tensor = answer if isinstance(answer, torch.Tensor) else _logits(answer)
        return logits[0]


def export_head(model: torch.nn.Module, site: Site | str, path: str | os.PathLike[str], rows: int = 8) -> Path:
    """Writes the rest of a model behind a site as one ONNX file.

    Args:
        model: a causal language model of Hugging Face, a HookedTransformer, or a module that turns token ids [1, T]
            into logits [1, T, V]. It is exported as it is: call `eval()` first, and `float()` where it is of 16 bits.
        site: what the explainer models, as for `capture`: `blocks.5.hook_resid_post`, a module's path, or a `Site`; for
            a transcoder one with `targets` (its MLP's output), after which the block must add nothing but the residual.
        path: the file to write. It is written again where it exists.
        rows: length of the example request. The file takes any length.

    Returns:
        The path.

    Raises:
        ValueError: when the model is in training mode, not float32, or the head is larger than one file may be.
    """
    path = Path(path)
    if model.training:
        raise ValueError("the model is in training mode: call model.eval() first, or dropout would go into the head")
    parameter = next(model.parameters())
    if parameter.dtype != torch.float32:
        raise ValueError(f"the model is of {parameter.dtype}: call model.float() first, heads read float32")
    head = Head(model, site).eval()
    width = row_width(head, parameter.device)
    names = ["targets", "residual"] if head.is_transcoder else ["activations"]
    length = torch.export.Dim("T", min=2, max=1 << 20)
    with torch.no_grad():
        program = torch.onnx.export(
            head,
            # Each its own: one tensor given twice would become one input.
            tuple(torch.zeros((rows, width), device=parameter.device) for _ in names),
            input_names=names,
            output_names=["logits"],
            dynamic_shapes=tuple({0: length} for _ in names),
            dynamo=True,
            optimize=True,
            verbose=False,
        )
    assert program is not None
    program.save(path, external_data=False)
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path}: {path.stat().st_size} bytes, one ONNX file holds {MAX_BYTES}")
    return path


def _place(model: torch.nn.Module, site: Site | str) -> Place:
    place = place_of(model, site.module, site.at) if isinstance(site, Site) else place_of(model, site)
    return _shown(model, place)


def _shown(model: torch.nn.Module, place: Place | Addition) -> Place:
    # Tokens that differ and are not 0, which is padding in many models, with an embedding of zeros.
    ids = torch.arange(1, 4, device=next(model.parameters()).device).unsqueeze(0)
    with torch.no_grad():
        return shown_place(place, lambda: model(ids))


def _block_output(model: torch.nn.Module, site: Site | str) -> Place:
    """Where the block of a transcoder's targets ends: there the residual stream and its targets are one."""
    targets = site.targets if isinstance(site, Site) else None
    name = targets[0] if isinstance(targets, tuple) else str(targets)
    for end in ("hook_mlp_out", "mlp_out"):
        if name.endswith(end):
            return _shown(model, place_of(model, name[: -len(end)] + "hook_resid_post"))
    block, _, last = name.rpartition(".")
    if last in ("mlp", "feed_forward") and block:
        return _shown(model, place_of(model, block))
    raise ValueError(f"{name}: expected the MLP's output, such as blocks.5.hook_mlp_out, so that its block is known")


def row_width(head: Head, device: torch.device) -> int:
    """Returns the width of the rows that a head reads, seen in a run of its model on two tokens."""
    seen: list[int] = []

    def look(hidden: torch.Tensor) -> torch.Tensor:
        seen.append(int(hidden.shape[-1]))
        return hidden

    with torch.no_grad(), _hooked(head._place, look):
        head.model(torch.zeros((1, 2), dtype=torch.long, device=device))
    if not seen:
        raise ValueError("the model does not come by the site when it is called with token ids")
    return seen[0]


@contextmanager
def _replaced(place: Place, hidden: torch.Tensor) -> Iterator[None]:
    with _hooked(place, lambda _: hidden):
        yield


@contextmanager
def _hooked(place: Place, change: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    def before(_: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if inputs:
            return (change(inputs[0]), *inputs[1:]), named
        return inputs, {**named, "hidden_states": change(named["hidden_states"])}

    def after(_: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> Any:
        return (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)

    handle = (
        place.module.register_forward_pre_hook(before, with_kwargs=True)
        if place.at == "input"
        else place.module.register_forward_hook(after)
    )
    try:
        yield
    finally:
        handle.remove()


def _logits(answer: Any) -> torch.Tensor:
    logits = answer.logits if hasattr(answer, "logits") else answer[0]
    if not isinstance(logits, torch.Tensor):
        raise ValueError(f"the model answers with {type(answer).__name__}, which has no logits")
    return logits
