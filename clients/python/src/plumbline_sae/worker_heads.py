"""Heads that a worker runs: a function of the user's own, an ONNX file, or a model of torch cut behind a site."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any

from .worker import AUTOENCODER, TRANSCODER, Rows, WorkerHead

if TYPE_CHECKING:
    from .sites import Site


def head_of_function(name: str) -> WorkerHead:
    """Returns a function of the user's own as a head: one of `activations`, or of `targets` and `residual`.

    Args:
        name: `module:function`; the module is looked for in the working directory too.

    Raises:
        ValueError: when there is none, or it takes another number of arguments.
    """
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise ValueError(f"{name}: expected MODULE:FUNCTION, such as my_model:head")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        call = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name}: {error}") from error
    if not callable(call):
        raise ValueError(f"{name} is no function")
    required = [
        parameter
        for parameter in inspect.signature(call).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) not in (1, 2):
        raise ValueError(f"{name} takes {len(required)} arguments: expected activations, or targets and residual")
    return WorkerHead(call, AUTOENCODER if len(required) == 1 else TRANSCODER)


def head_of_onnx(path: str | os.PathLike[str], providers: list[str] | None = None) -> WorkerHead:
    """Returns a head in an ONNX file, run by onnxruntime, for instance by its `CUDAExecutionProvider`.

    Raises:
        ValueError: when its inputs are not those of a head.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(os.fspath(path), providers=providers or ["CPUExecutionProvider"])
    inputs = {each.name: each.shape for each in session.get_inputs()}
    reads = next((known for known in (AUTOENCODER, TRANSCODER) if set(known) == set(inputs)), None)
    if reads is None:
        raise ValueError(f"{path}: inputs {sorted(inputs)}, expected activations, or targets and residual")
    width = inputs[reads[0]][-1]

    def call(*rows: Rows) -> Any:
        return session.run(["logits"], dict(zip(reads, rows, strict=True)))[0]

    return WorkerHead(call, reads, width if isinstance(width, int) else None)


def head_of_model(model: Any, site: Site | str) -> WorkerHead:
    """Returns the rest of a model of torch behind a site, on the model's own device and in its own type.

    Args:
        model: a causal language model of Hugging Face, a HookedTransformer, or a module that turns token ids [1, T]
            into logits, in evaluation mode.
        site: what the explainer models, as for `export_head`.
    """
    import torch

    from .heads import Head, row_width

    head = Head(model, site).eval()
    parameter = next(model.parameters())

    def call(*rows: Rows) -> Any:
        with torch.inference_mode():
            return head(*(torch.from_numpy(each).to(parameter.device, parameter.dtype) for each in rows))

    return WorkerHead(call, TRANSCODER if head.is_transcoder else AUTOENCODER, row_width(head, parameter.device))
