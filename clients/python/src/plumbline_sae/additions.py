"""What a block adds to the residual stream: shown on a forward pass, not believed by a module's name.

TransformerLens' `hook_attn_out` and `hook_mlp_out` are what a layer adds to the stream, and `hook_mlp_in` is the stream
between the two. In Hugging Face's models that is one module in one family and another module in the next: some scale
what they add, some add inside of the module, some normalise it before they add it. So a name is only a guess:

    resid_pre + attn_out + mlp_out = resid_post

must hold on a forward pass, within the rounding of the model's type, for one pair of modules. That pair gives the rows.
Where it holds for none, no row is taken, and a sentence says so.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

_ATTENTION = (
    "post_attention_layernorm",
    "post_self_attn_layernorm",
    "post_operator_norm",
    "post_norm1",
    "attn_sconv",
    "self_attn",
    "attn",
    "attention",
    "self_attention",
    "multi_head_attention",
    "self_attention.dense",
    "attention.output.dense",
    "linear_attn",
)
_OTHER_MIXERS = ("temporal_block", "mamba", "conv", "mixer")
"""What stands in the place of attention in some blocks: beside it an MLP can be shown, and there is no `attn_out`."""

_MLP = (
    "post_feedforward_layernorm",
    "post_mlp_layernorm",
    "post_ffn_norm",
    "post_norm2",
    "mlp_sconv",
    "mlp",
    "feed_forward",
    "block_sparse_moe",
    "mlp_block",
    "ffn",
    "fc2",
    "mlp.dense_4h_to_h",
    "output.dense",
)
_BEFORE_MLP = (
    "pre_feedforward_layernorm",
    "pre_mlp_layernorm",
    "post_attention_layernorm",
    "feedforward_layernorm",
    "ln_2",
    "ffn_norm",
    "mlp_norm",
    "final_layer_norm",
    "channel_pre_norm",
    "layernorm2",
    "ln",
    "mlp",
)
NAMES = {"attn_out": _ATTENTION, "mlp_out": _MLP, "mlp_in": _BEFORE_MLP, "resid_mid": _BEFORE_MLP}
"""Behind `blocks.N.hook_`: the modules that may be the place."""

_TESTED_ROWS = 128
_LOOKED_AT = 32
"""Passes that are looked at before a place is shown; of later ones only the 64th, the 128th and so on."""
_SHARE_THAT_MUST_TELL = 0.01


@dataclass(frozen=True)
class Shown:
    """The module that gives the rows, which end of it, and what its values are multiplied by."""

    path: str
    at: str
    factor: float


class Addition:
    """A place that a forward pass must show.

    Raises:
        ValueError: when the block has no module that could be the place.
    """

    def __init__(self, name: str, inside: str, block: torch.nn.Module, block_path: str) -> None:
        self.name = name
        self.block = block
        self._inside = inside
        self._block_path = block_path
        self.candidates = [path for path in NAMES[inside] if submodule(block, path) is not None]
        self.mixers = [path for path in (*_ATTENTION, *_OTHER_MIXERS) if submodule(block, path) is not None]
        self.mlps = [path for path in _MLP if submodule(block, path) is not None]
        if not self.candidates or not self.mixers or not self.mlps:
            tried = NAMES[inside] if not self.candidates else _MLP if self.mixers else _ATTENTION
            raise ValueError(f"{name}: block {block_path} has none of {', '.join(tried)}; name a module's path instead")

    def refusal(self, why: str) -> str:
        """Returns the sentence for a pass that did not show the place."""
        paths = ", ".join(f"{self._block_path}.{path}" for path in self.candidates)
        end = "inputs are" if NAMES[self._inside] is _BEFORE_MLP else "outputs are"
        return f"{self.name}: {why}; no row was taken. Name a module's path instead; those whose {end} near it: {paths}"

    def find(self, stream: torch.Tensor, after: torch.Tensor, seen: dict[tuple[str, str], torch.Tensor]) -> Shown | str:
        """Returns what a pass shows, or why it shows nothing.

        Args:
            stream: what came into the block.
            after: what left it.
            seen: what the block's modules read and wrote, by path and end.
        """
        if stream.shape != after.shape or stream.ndim > 3:
            return f"the block reads {list(stream.shape)} and writes {list(after.shape)}, which is no residual stream"
        tested = {key: _some_rows(value, stream) for key, value in seen.items() if value.numel() == stream.numel()}
        pre, post = _some_rows(stream, stream), _some_rows(after, stream)
        good = torch.isfinite(post).all(dim=1)
        eps = max(
            torch.finfo(value.dtype).eps for value in (stream, after, *seen.values()) if value.is_floating_point()
        )
        too_coarse = False
        for mixer, mlp, factor in self._guesses():
            if (mixer, "output") not in tested or (mlp, "output") not in tested:
                continue
            first, second = tested[mixer, "output"] * factor, tested[mlp, "output"] * factor
            room = 2 * eps * (pre.abs() + first.abs() + second.abs())
            if not ((pre + first + second - post).abs() <= room)[good].all():
                continue
            if not _tells(first[good], room[good]) or not _tells(second[good], room[good]):
                too_coarse = True
                continue
            found = self._place(mixer, mlp, factor, tested, pre + first, room, good)
            if found is not None:
                return found
        if too_coarse:
            return "what the block adds is within the rounding of the stream, so that this pass shows nothing"
        return "resid_pre + attn_out + mlp_out = resid_post holds for none of the block's modules"

    def _guesses(self) -> Iterator[tuple[str, str, float]]:
        """Yields pairs of modules, with what the block may multiply by: any of the numbers that it holds."""
        numbers = {value for value in vars(self.block).values() if isinstance(value, float) and value not in (0.0, 1.0)}
        for factor in (1.0, *sorted(number for number in numbers if math.isfinite(number))):
            for mixer in self.mixers:
                for mlp in self.mlps:
                    if mixer != mlp:
                        yield mixer, mlp, factor

    def _place(
        self,
        mixer: str,
        mlp: str,
        factor: float,
        tested: dict[tuple[str, str], torch.Tensor],
        middle: torch.Tensor,
        room: torch.Tensor,
        good: torch.Tensor,
    ) -> Shown | None:
        if self._inside == "mlp_out":
            return Shown(mlp, "output", factor)
        if self._inside == "attn_out":
            return Shown(mixer, "output", factor) if mixer in _ATTENTION else None
        for path in self.candidates:
            read = tested.get((path, "input"))
            if read is not None and ((read - middle).abs() <= room)[good].all():
                return Shown(path, "input", 1.0)
        return None


def submodule(model: torch.nn.Module, path: str) -> torch.nn.Module | None:
    """Returns a module's part of that path, the module itself for an empty one, or None."""
    try:
        return model.get_submodule(path)
    except AttributeError:
        return None


def tensor_at(at: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    """Returns the hidden states among what a module was called with or returned."""
    if at == "input":
        return inputs[0] if inputs else next(iter(kwargs.values()), None)
    return output[0] if isinstance(output, (tuple, list)) and output else output


def _some_rows(values: torch.Tensor, stream: torch.Tensor) -> torch.Tensor:
    rows = values.detach().reshape(-1, stream.shape[-1])
    return rows[:: math.ceil(len(rows) / _TESTED_ROWS)].cpu().double()


def _tells(added: torch.Tensor, room: torch.Tensor) -> bool:
    """Returns whether a wrong module would have shown: half of what is added is beyond rounding in enough places."""
    return added.numel() > 0 and float((added.abs() > 2 * room).double().mean()) >= _SHARE_THAT_MUST_TELL


class AdditionHooks:
    """The hooks of an addition: they hold back a pass's rows until it has shown where they come from.

    Threads that run the model side by side each have a pass of their own.
    """

    def __init__(self, addition: Addition, take: Callable[[torch.Tensor], None], refuse: Callable[[str], None]) -> None:
        self._addition = addition
        self._take = take
        self._refuse = refuse
        self._shown: Shown | None = None
        self._passes = 0
        self._why = "no pass was looked at"
        self._here = threading.local()
        block = addition.block
        self._handles = [block.register_forward_pre_hook(self._begin, with_kwargs=True)]
        ends = {(path, "output") for path in (*addition.mixers, *addition.mlps)}
        ends |= {(path, "input") for path in addition.candidates if NAMES[addition._inside] is _BEFORE_MLP}
        for path, at in sorted(ends):
            self._handles.append(self._see(block.get_submodule(path), path, at))
        self._handles.append(block.register_forward_hook(self._end))

    @property
    def shown(self) -> Shown | None:
        """Returns where the rows come from, once a pass has shown it."""
        return self._shown

    def remove(self) -> None:
        """Takes the hooks out of the model."""
        while self._handles:
            self._handles.pop().remove()

    def _see(self, module: torch.nn.Module, path: str, at: str) -> Any:
        def before(_: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            self._came(path, at, tensor_at(at, inputs, kwargs, None))

        def after(_: Any, inputs: tuple[Any, ...], output: Any) -> None:
            self._came(path, at, tensor_at(at, inputs, {}, output))

        if at == "input":
            return module.register_forward_pre_hook(before, with_kwargs=True)
        return module.register_forward_hook(after)

    def _begin(self, _: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._here.seen, self._here.passed_over = None, False
        if self._shown is not None:
            return
        self._passes += 1
        # To look costs a copy of every output, and waits for the device.
        self._here.passed_over = self._passes > _LOOKED_AT and self._passes & (self._passes - 1) != 0
        if not self._here.passed_over:
            self._here.seen = {}
            self._came("", "input", tensor_at("input", inputs, kwargs, None))

    def _came(self, path: str, at: str, hidden: Any) -> None:
        seen = getattr(self._here, "seen", None)
        if getattr(self._here, "passed_over", False):
            return
        if seen is not None:
            try:
                if isinstance(hidden, torch.Tensor) and hidden.is_floating_point():
                    seen[path, at] = hidden.detach().clone()  # the model may overwrite it before the block ends
            except Exception:  # no memory: without these rows the pass shows nothing, and says so
                seen.clear()
        elif self._shown is not None and (path, at) == (self._shown.path, self._shown.at):
            self._hand(self._shown, hidden)

    def _end(self, _: Any, inputs: tuple[Any, ...], output: Any) -> None:
        seen, self._here.seen = getattr(self._here, "seen", None), None
        if getattr(self._here, "passed_over", False):
            self._here.passed_over = False
            self._refuse(self._addition.refusal(self._why))
        if seen is None:
            return
        try:
            found = self._shown or self._found(seen, tensor_at("output", inputs, {}, output))
        except Exception as error:
            found = f"the pass could not be looked at, {error}"
        if isinstance(found, Shown) and (found.path, found.at) not in seen:
            found = f"the block did not come by {found.path}"
        if isinstance(found, str):
            self._why = found
            self._refuse(self._addition.refusal(found))
            return
        self._shown = found
        self._hand(found, seen[found.path, found.at])

    def _found(self, seen: dict[tuple[str, str], torch.Tensor], after: Any) -> Shown | str:
        stream = seen.pop(("", "input"), None)
        if stream is None or not isinstance(after, torch.Tensor):
            return "the block does not read and write one tensor"
        with torch.no_grad():
            return self._addition.find(stream, after, seen)

    def _hand(self, shown: Shown, hidden: Any) -> None:
        try:
            scaled = shown.factor != 1.0 and isinstance(hidden, torch.Tensor)
            rows = hidden * shown.factor if scaled else hidden
        except Exception as error:  # no memory: the model's call goes on
            self._refuse(self._addition.refusal(f"what {shown.path} gives could not be multiplied, {error}"))
            return
        self._take(rows)
