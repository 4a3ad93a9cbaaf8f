"""Places in a served model, by TransformerLens' names, and which of the two ways out of vLLM gives their rows.

| name behind `blocks.5.`         | rows                                           | way out                      |
|---------------------------------|------------------------------------------------|------------------------------|
| `hook_resid_pre`, `_resid_post` | the residual stream, before any final norm     | an auxiliary output, or a tap|
| `mlp.hook_in`, `mlp.hook_out`   | what the MLP's module reads and what it gives  | a tap                        |
| `hook_mlp_out`                  | what the MLP adds to the stream                | a tap                        |

Auxiliary outputs are what EAGLE3 reads: the model's own, part of its compiled graph. A tap is an operator in that
graph which copies the rows into a buffer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HOOK = re.compile(r"blocks\.(\d+)\.(hook_resid_pre|hook_resid_post|mlp\.hook_in|mlp\.hook_out|hook_mlp_out)")
NAMES = "blocks.N.hook_resid_pre, hook_resid_post, mlp.hook_in, mlp.hook_out or hook_mlp_out"


@dataclass(frozen=True, order=True)
class Place:
    """A place in a model.

    Attributes:
        kind: `stream`: what enters a block; `mlp_in`, `mlp_out`: the ends of the MLP's module; `added`: what the MLP
            adds to the stream.
        layer: the block's number; of a stream the number of blocks before the place, which is vLLM's number of it.
    """

    kind: str
    layer: int

    @classmethod
    def of(cls, hook: str) -> Place:
        """Returns the place of a name.

        Raises:
            ValueError: when a served model has no place of this name.
        """
        found = _HOOK.fullmatch(hook)
        if found is None:
            raise ValueError(f"hook {hook!r}: expected {NAMES}")
        layer, name = int(found[1]), found[2]
        if name.startswith("hook_resid"):
            return cls("stream", layer + (name == "hook_resid_post"))
        return cls({"mlp.hook_in": "mlp_in", "mlp.hook_out": "mlp_out", "hook_mlp_out": "added"}[name], layer)

    @property
    def is_stream(self) -> bool:
        """Returns whether the place is on the residual stream, so that an auxiliary output can give it."""
        return self.kind == "stream"
