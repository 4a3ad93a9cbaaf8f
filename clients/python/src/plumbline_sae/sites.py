"""Where in a model a site is: a module's path, or the name that TransformerLens and SAELens give the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_BLOCK_LISTS = (
    "model.language_model.layers",
    "model.layers",
    "transformer.h",
    "gpt_neox.layers",
    "model.decoder.layers",
    "encoder.layer",
    "bert.encoder.layer",
    "layers",
    "blocks",
    "h",
)
"""Where models keep their blocks, under the module that is called: Hugging Face's first, then plain ones."""

_HOOK = re.compile(r"blocks\.(\d+)\.(?:hook_)?([\w.]+)")

# What follows the block's path, in the order of trying; the first that exists is the place.
_INSIDE: dict[str, tuple[tuple[str, str], ...]] = {
    "resid_pre": (("", "input"),),
    "resid_post": (("", "output"),),
    "mlp_in": (("mlp", "input"),),
    "mlp_out": (("post_feedforward_layernorm", "output"), ("mlp", "output")),
    "attn_out": (
        ("post_attention_layernorm", "output"),
        ("self_attn", "output"),
        ("attn", "output"),
        ("attention", "output"),
    ),
    "attn.hook_z": (("self_attn.o_proj", "input"), ("attn.c_proj", "input"), ("attention.dense", "input")),
}


@dataclass(frozen=True)
class Site:
    """Where rows are taken.

    Attributes:
        module: a module's path, such as `model.layers.5`, or a hook's name, such as `blocks.5.hook_resid_post`.
        at: `output` or `input` of the module; a hook's name says it by itself.
        targets: where a transcoder's targets are taken: a name as `module`, or (path, `input` or `output`).
    """

    module: str
    at: str = "output"
    targets: str | tuple[str, str] | None = None

    def __post_init__(self) -> None:
        _require_end(self.at, self.module)
        if isinstance(self.targets, tuple):
            _require_end(self.targets[1], self.targets[0])


@dataclass(frozen=True)
class Place:
    """A module and which end of it: `input` or `output`."""

    module: torch.nn.Module
    at: str


def place_of(model: torch.nn.Module, name: str, at: str = "output") -> Place:
    """Returns the place of that name in a model.

    A name that is a module's path is taken as such, which holds for every hook of a HookedTransformer; another one is
    looked for as TransformerLens' name of a place in a Hugging Face model.

    Raises:
        ValueError: when the model has no such place, or has it only in another scale.
    """
    module = _submodule(model, name)
    if module is not None:
        return Place(module, at)
    hook = _HOOK.fullmatch(name)
    if hook is None:
        raise ValueError(f"the model has no module {name!r}; its modules begin with {_some_names(model)}")
    blocks = next((found for path in _BLOCK_LISTS if (found := _submodule(model, path)) is not None), None)
    if blocks is None:
        raise ValueError(f"{name}: none of {', '.join(_BLOCK_LISTS)} is in the model; name a module's path instead")
    layer, inside = int(hook[1]), hook[2]
    block = _submodule(blocks, str(layer))
    if block is None:
        raise ValueError(
            f"{name}: the model has no block {layer}, its blocks are 0 to {len(list(blocks.children())) - 1}"
        )
    candidates = _INSIDE.get(inside)
    if candidates is None:
        raise ValueError(f"{name}: expected one of {', '.join(_INSIDE)} behind `hook_`, or a module's path")
    for path, end in candidates:
        if path == "post_attention_layernorm" and _submodule(block, "post_feedforward_layernorm") is None:
            continue  # in most families this one stands before the MLP; only Gemma 2 and 3 have it behind the attention
        found = block if path == "" else _submodule(block, path)
        if found is not None:
            return Place(found, end)
    raise ValueError(
        f"{name}: block {layer} has none of {', '.join(path for path, _ in candidates)}; name a path instead"
    )


def _require_end(at: str, name: str) -> None:
    if at not in ("input", "output"):
        raise ValueError(f"{name}: at = {at!r}, expected 'input' or 'output'")


def _submodule(model: torch.nn.Module, path: str) -> torch.nn.Module | None:
    try:
        return model.get_submodule(path)
    except AttributeError:
        return None


def _some_names(model: torch.nn.Module) -> str:
    return ", ".join([name for name, _ in model.named_modules() if name][:6])


def tensor_at(at: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    """Returns the hidden states among what a module was called with or returned."""
    if at == "input":
        return inputs[0] if inputs else next(iter(kwargs.values()))
    return output[0] if isinstance(output, tuple) else output


def register(place: Place, take: Callable[[Any], None]) -> Any:
    """Registers a hook that hands the hidden states to `take`; returns the handle that removes it."""
    if place.at == "input":

        def before(module: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            take(tensor_at("input", inputs, kwargs, None))

        return place.module.register_forward_pre_hook(before, with_kwargs=True)

    def after(module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        take(tensor_at("output", inputs, {}, output))

    return place.module.register_forward_hook(after)
