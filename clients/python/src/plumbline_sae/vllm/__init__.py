"""A worker inside vLLM that sends the activations of what it serves to Plumbline.

    vllm serve MODEL --worker-cls plumbline_sae.vllm.Worker --additional-config \\
      '{"plumbline": {"kafka": {"bootstrap.servers": "localhost:9092"},
                      "sites": {"residual.5": "blocks.5.hook_resid_post"}}}'

A step enters as vLLM's `SchedulerOutput` and the state that the runner keeps until it samples (`steps`). What leaves it
are copies of rows (`snapshots`), taken on the worker's thread and joined to requests on the tap's own (`tap`,
`joining`), which hands them to a producer or adds them up (`outlets`). The rows are the model's auxiliary outputs, or
what taps copy (`taps`). Decoders come back between two steps (`mailbox`).

The alternative we did not take is vLLM's own `extract_hidden_states`: it spends KV cache and the speculator's place,
hands out prompts only, and writes files that a second process must read.
"""

from __future__ import annotations

from typing import Any

from .mailbox import Hooked
from .plugin import register

__all__ = ["FeatureTap", "Hooked", "Worker", "register"]


def __getattr__(name: str) -> Any:
    """Returns what needs vLLM or torch: the worker, and the reader of codes."""
    if name == "Worker":
        from .worker import default_worker

        return default_worker()
    if name == "FeatureTap":
        from .features import FeatureTap

        return FeatureTap
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
