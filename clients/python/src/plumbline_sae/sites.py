"""Where in a model a site is: a module's path, or the name that TransformerLens and SAELens give the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .additions import NAMES as ADDITIONS
from .additions import Addition, AdditionHooks, submodule, tensor_at

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

# What follows the block's path, in the order of trying; the first that exists is the place. What a block adds to the
# stream is not among them: that must be shown (`additions`).
_INSIDE: dict[str, tuple[tuple[str, str], ...]] = {
    "resid_pre": (("", "input"),),
    "resid_post": (("", "output"),),
    "mlp.hook_in": (("mlp", "input"), ("feed_forward", "input"), ("block_sparse_moe", "input")),
    "mlp.hook_out": (("mlp", "output"), ("feed_forward", "output"), ("block_sparse_moe", "output")),
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
    """A module and which end of it: `input` or `output`; a stream is what passes between blocks."""

    module: torch.nn.Module
    at: str
    is_stream: bool = False


def place_of(model: torch.nn.Module, name: str, at: str = "output") -> Place | Addition:
    """Returns the place of that name in a model, or what a forward pass must show to be it.

    A name that is a module's path is taken as such, which holds for every hook of a HookedTransformer; another one is
    looked for as TransformerLens' name of a place in a Hugging Face model.

    Raises:
        ValueError: when the model has no such place, or has it only in another scale.
    """
    for part in (model, submodule(model, name)):
        if type(part).__module__.startswith("vllm."):
            raise ValueError(
                f"{name}: {type(part).__name__} is a module of vLLM, whose blocks hand on a pair that adds up to the"
                " stream, and whose graphs drop hooks; serve with --worker-cls plumbline_sae.vllm.Worker"
            )
    module = submodule(model, name)
    if module is not None:
        return Place(module, at)
    hook = _HOOK.fullmatch(name)
    if hook is None:
        raise ValueError(f"the model has no module {name!r}; its modules begin with {_some_names(model)}")
    blocks_path = next((path for path in _BLOCK_LISTS if submodule(model, path) is not None), None)
    if blocks_path is None:
        raise ValueError(f"{name}: none of {', '.join(_BLOCK_LISTS)} is in the model; name a module's path instead")
    layer, inside = int(hook[1]), hook[2]
    blocks, block_path = model.get_submodule(blocks_path), f"{blocks_path}.{layer}"
    block = submodule(blocks, str(layer))
    if block is None:
        raise ValueError(
            f"{name}: the model has no block {layer}, its blocks are 0 to {len(list(blocks.children())) - 1}"
        )
    if inside in ADDITIONS:
        return Addition(name, inside, block, block_path)
    candidates = _INSIDE.get(inside)
    if candidates is None:
        known = ", ".join((*_INSIDE, *ADDITIONS))
        raise ValueError(f"{name}: expected one of {known} behind `hook_`, or a module's path")
    for path, end in candidates:
        found = submodule(block, path)
        if found is not None:
            return Place(found, end, is_stream=path == "")
    raise ValueError(
        f"{name}: block {layer} has none of {', '.join(path for path, _ in candidates)}; name a path instead"
    )


def shown_place(place: Place | Addition, call: Callable[[], Any]) -> Place:
    """Returns the place itself, after a call of the model where one must show it.

    Raises:
        ValueError: when the call does not show it, or the block multiplies what the module gives.
    """
    if isinstance(place, Place):
        return place
    refused: list[str] = []
    hooks = AdditionHooks(place, lambda _: None, refused.append)
    try:
        call()
    finally:
        hooks.remove()
    shown = hooks.shown
    if shown is None:
        raise ValueError(refused[0] if refused else f"{place.name}: the model does not come by its block")
    if shown.factor != 1.0:
        raise ValueError(
            f"{place.name}: the block multiplies what {shown.path} gives by {shown.factor}, and a head cannot undo it;"
            " name that module's path instead, and capture by that path too"
        )
    return Place(place.block.get_submodule(shown.path), shown.at)


def _require_end(at: str, name: str) -> None:
    if at not in ("input", "output"):
        raise ValueError(f"{name}: at = {at!r}, expected 'input' or 'output'")


def _some_names(model: torch.nn.Module) -> str:
    return ", ".join([name for name, _ in model.named_modules() if name][:6])


def register(place: Place | Addition, take: Callable[[Any], None], refuse: Callable[[str], None]) -> Any:
    """Registers hooks that hand the hidden states to `take`; returns what removes them.

    Where a pass does not have what the place's name means, `refuse` is given a sentence, and `take` nothing.
    """
    if isinstance(place, Addition):
        return AdditionHooks(place, take, refuse)

    def hand(hidden: Any) -> None:
        if place.is_stream and getattr(hidden, "ndim", 3) > 3:
            refuse(f"its block passes on {list(hidden.shape)}, which is not one residual stream; no row was taken")
        else:
            take(hidden)

    if place.at == "input":

        def before(module: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            hand(tensor_at("input", inputs, kwargs, None))

        return place.module.register_forward_pre_hook(before, with_kwargs=True)

    def after(module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        hand(tensor_at("output", inputs, {}, output))

    return place.module.register_forward_hook(after)
