"""A hook that steers a served model: it adds a column of a decoder to the stream behind block 1."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from plumbline_sae.tensors import decode
from plumbline_sae.vllm import Hooked
from plumbline_sae.vllm.blocks import blocks_of

FEATURE, STRENGTH = 17, 3.0
FOLDER_VARIABLE = "MATRIX_SAE"


def attach(model: Any) -> dict[str, Hooked]:
    """Registers the hook; returns the weights that it reads."""
    folder = os.environ[FOLDER_VARIABLE]
    with open(f"{folder}/sae_weights.safetensors", "rb") as file:
        found = {name: np.array(tensor.widened()) for name, tensor in decode(file.read()).items()}
    block = blocks_of(model)[1]
    for name in ("W_dec", "b_dec"):
        block.register_buffer(f"sae_{name}", torch.tensor(found[name]), persistent=False)

    def steer(module: Any, inputs: Any, output: Any) -> Any:
        added, stream = output
        return added + STRENGTH * module.sae_W_dec[FEATURE], stream

    block.register_forward_hook(steer)
    return {"l1": Hooked(folder, block.sae_W_dec, block.sae_b_dec, writes=True)}
