"""What serving engines hand out, as the rows of one request: vLLM, vllm-lens, SGLang.

Engines disagree about layers and axes. Here a layer is always named as TransformerLens names it:
`blocks.5.hook_resid_pre` is what enters block 5, `blocks.5.hook_resid_post` is what leaves it, before any final norm.

| engine            | shape                    | its number of `blocks.5.hook_resid_post` |
|-------------------|--------------------------|------------------------------------------|
| vLLM's connectors | [tokens, layers, hidden] | 6: what enters block 6                   |
| vllm-lens         | [layers, tokens, hidden] | 5: what leaves block 5                   |
"""

from __future__ import annotations

import fcntl
import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .producer import Sink
from .tensors import FLOATS, Tensor, decode, tensor_of

_LOG = logging.getLogger(__name__)
_HOOK = re.compile(r"blocks\.(\d+)\.hook_resid_(pre|post)")
_UNFINISHED_SECONDS = 10.0

Axes = Literal["tokens_first", "layers_first"]


def entering_layer(hook: str) -> int:
    """Returns vLLM's number of a place: how many blocks came before it.

    Raises:
        ValueError: when the hook is not on the residual stream between blocks; engines hand out nothing else.
    """
    found = _HOOK.fullmatch(hook)
    if found is None:
        raise ValueError(f"hook {hook!r}: expected blocks.N.hook_resid_pre or blocks.N.hook_resid_post")
    return int(found[1]) + (found[2] == "post")


def leaving_layer(hook: str) -> int:
    """Returns vllm-lens' number of a place: the block whose output it is.

    Raises:
        ValueError: when the place is no block's output.
    """
    layer = entering_layer(hook) - 1
    if layer < 0:
        raise ValueError(f"hook {hook!r}: what enters the first block leaves none, so vllm-lens cannot give it")
    return layer


def vllm_config(hooks: Mapping[str, str], path: str | Path = "/dev/shm/plumbline") -> dict[str, Any]:
    """Returns arguments of `vllm.LLM` that make vLLM write the hidden states of some places, a file a request.

    For `vllm serve`, give the two dictionaries as JSON to `--speculative-config` and `--kv-transfer-config`.

    Args:
        hooks: for each site its place, such as `blocks.5.hook_resid_post`.
        path: a folder in memory; `VllmFiles` reads it and removes what it has sent.
    """
    return {
        "enable_chunked_prefill": False,
        "speculative_config": {
            "method": "extract_hidden_states",
            "num_speculative_tokens": 1,
            "draft_model_config": {"hf_config": {"eagle_aux_hidden_state_layer_ids": _layer_ids(hooks)}},
        },
        "kv_transfer_config": {
            "kv_connector": "ExampleHiddenStatesConnector",
            "kv_role": "kv_producer",
            "kv_connector_extra_config": {"shared_storage_path": str(path)},
        },
    }


def _layer_ids(hooks: Mapping[str, str]) -> list[int]:
    return sorted({entering_layer(hook) for hook in hooks.values()})


def rows_of_layer(hidden_states: Any, layers: int, index: int, *, tokens: int | None, axes: Axes | None) -> Tensor:
    """Returns one layer's rows [tokens, hidden] of hidden states of several layers.

    Args:
        hidden_states: three axes, of which the last is the hidden one.
        layers: how many layers there are.
        index: which of them, from 0.
        tokens: the most tokens there can be, or None where that is not known.
        axes: which axis comes first, or None to tell it from the sizes.

    Raises:
        ValueError: when the shape does not fit, or fits both ways round.
    """
    tensor = tensor_of(hidden_states)
    shape = tensor.shape
    if len(shape) != 3 or tensor.dtype not in FLOATS:
        raise ValueError(f"hidden states are {tensor.dtype} {list(shape)}, expected floating point of three axes")

    def fits(layer_axis: int) -> bool:
        return shape[layer_axis] == layers and (tokens is None or shape[1 - layer_axis] <= tokens)

    fitting: list[Axes] = [name for name, axis in _LAYER_AXIS.items() if fits(axis) and axes in (None, name)]
    if not fitting:
        wanted = "" if axes is None else f" with {axes.replace('_', ' ')}"
        limit = "" if tokens is None else f" and at most {tokens} tokens"
        raise ValueError(f"hidden states are {list(shape)}, expected {layers} layers{limit}{wanted}")
    if len(fitting) > 1:
        raise ValueError(
            f"hidden states are {list(shape)}: {layers} layers fit either of the first two axes;"
            " say axes='tokens_first' or axes='layers_first'"
        )
    values = tensor.values[:, index] if fitting[0] == "tokens_first" else tensor.values[index]
    return tensor.with_values(values)


_LAYER_AXIS: dict[Axes, int] = {"tokens_first": 1, "layers_first": 0}


def send_lens(
    producer: Sink,
    hooks: Mapping[str, str],
    layers: Sequence[int],
    request: str,
    residual_stream: Any,
    *,
    token_ids: Any = None,
    headers: Mapping[str, str] | None = None,
) -> bool:
    """Sends what vllm-lens returned for a request as `activations["residual_stream"]`.

    Args:
        producer: where rows go.
        hooks: for each site its place; every one must be a block's output.
        layers: the blocks in the order in which they were asked for.
        request: the request's name.
        residual_stream: [layers, tokens, hidden].
        token_ids: [tokens], where they are known.
        headers: further headers.

    Returns:
        False when rows were dropped.

    Raises:
        ValueError: when a site's block was not asked for, or the shape does not fit.
    """
    complete = True
    for site, hook in hooks.items():
        layer = leaving_layer(hook)
        if layer not in layers:
            raise ValueError(f"site {site}: block {layer} is not among those that were asked for, {list(layers)}")
        rows = rows_of_layer(residual_stream, len(layers), list(layers).index(layer), tokens=None, axes="layers_first")
        complete &= producer.send(site, request, rows, token_ids=token_ids, headers=headers)
    return complete


def sglang_rows(hidden_states: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Returns the rows [tokens, hidden] of SGLang's `meta_info["hidden_states"]`: the prompt's, then one a token.

    SGLang hands out the last layer only, after the final norm of some models: use it for a site that was trained so.

    Raises:
        ValueError: when the widths differ.
    """
    parts = [np.atleast_2d(np.asarray(part, dtype=np.float32)) for part in hidden_states]
    widths = {part.shape[1] for part in parts}
    if len(widths) != 1 or any(part.ndim != 2 for part in parts):
        raise ValueError(f"hidden states of widths {sorted(widths)}, expected one width")
    return np.concatenate(parts)


@dataclass(frozen=True)
class FileStats:
    """What became of the engine's files.

    Attributes:
        sent: files whose rows were handed to the producer.
        refused: files that hold something else; `last_error` says what.
        last_error: the latest refusal as a sentence, or None.
    """

    sent: int = 0
    refused: int = 0
    last_error: str | None = None


class VllmFiles:
    """Sends the files that vLLM's `extract_hidden_states` and `hs-connectors` write, a file a request.

    A file is read when its companion `.lock` is free, then both are removed. One that cannot be used is counted and
    removed, too: the folder is in memory.

        files = VllmFiles("/dev/shm/plumbline", {"residual.5": "blocks.5.hook_resid_post"}, producer)
        files.run(stop)  # or files.poll() in a loop of your own

    Args:
        path: the folder.
        hooks: for each site its place, as given to `vllm_config`.
        producer: where rows go.
        delete: whether files are removed once they are read.
        layer_ids: vLLM's numbers in the order of its configuration; default: those of `vllm_config`.
        shorter: which tokens the rows are of where there are fewer rows than tokens. `tail`: the last ones, since a
            prefix cache hides the first; those count as cached. `head`: the first ones, for a server that hands out
            outputs without the last.
        headers: sent with every record.

    Raises:
        ValueError: when a hook is no place that vLLM hands out.
    """

    def __init__(
        self,
        path: str | Path,
        hooks: Mapping[str, str],
        producer: Sink,
        *,
        delete: bool = True,
        layer_ids: Sequence[int] | None = None,
        shorter: Literal["tail", "head"] = "tail",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._path = Path(path)
        self._layers = list(layer_ids) if layer_ids is not None else _layer_ids(hooks)
        self._places = {}
        for site, hook in hooks.items():
            if entering_layer(hook) not in self._layers:
                raise ValueError(f"site {site}: {hook} is layer {entering_layer(hook)}, not among {self._layers}")
            self._places[site] = self._layers.index(entering_layer(hook))
        self._producer = producer
        self._delete = delete
        self._shorter = shorter
        self._headers = {"engine": "vllm", **(headers or {})}
        self._done: set[str] = set()
        self._stats = FileStats()

    @property
    def stats(self) -> FileStats:
        """Returns what became of the files so far."""
        return self._stats

    def run(self, stop: threading.Event, interval: float = 0.2) -> None:
        """Sends files as they come until `stop` is set."""
        while not stop.is_set():
            if self.poll() == 0:
                stop.wait(interval)

    def poll(self) -> int:
        """Sends the files that are there and whole; returns how many it has read."""
        read = 0
        for file in sorted(self._path.glob("*.safetensors")):
            if file.name not in self._done and self._read(file):
                read += 1
        return read

    def _read(self, file: Path) -> bool:
        lock = file.with_name(file.name + ".lock")
        blob = _whole(file, lock)
        if blob is None:
            return False
        try:
            tensors = decode(blob)
            self._send(file.stem, tensors)
            self._stats = replace(self._stats, sent=self._stats.sent + 1)
        except ValueError as error:
            if not lock.exists() and time.time() - _changed(file) < _UNFINISHED_SECONDS:
                return False  # no lock says that it is whole: it may still be written
            self._stats = replace(self._stats, refused=self._stats.refused + 1, last_error=f"{file.name}: {error}")
            if self._stats.refused == 1:
                _LOG.warning("%s; further files are counted in stats.refused", self._stats.last_error)
        if self._delete:
            lock.unlink(missing_ok=True)
            file.unlink(missing_ok=True)
        else:
            self._done.add(file.name)
        return True

    def _send(self, request: str, tensors: Mapping[str, Tensor]) -> None:
        if "hidden_states" not in tensors:
            raise ValueError(f"holds {sorted(tensors)}, expected hidden_states")
        ids = tensors["token_ids"].values if "token_ids" in tensors else None
        for site, index in self._places.items():
            rows = rows_of_layer(
                tensors["hidden_states"],
                len(self._layers),
                index,
                tokens=None if ids is None else len(ids),
                axes="tokens_first",
            )
            behind = len(ids) - rows.shape[0] if ids is not None and self._shorter == "tail" else 0
            self._producer.send(
                site,
                request,
                rows,
                token_ids=_of_rows(ids, rows.shape[0], self._shorter),
                headers=self._headers,
                cached=behind,
            )


def _of_rows(ids: Any, rows: int, shorter: str) -> Any:
    if ids is None or len(ids) == rows:
        return ids
    return ids[len(ids) - rows :] if shorter == "tail" else ids[:rows]


def _whole(file: Path, lock: Path) -> bytes | None:
    """Returns the bytes of a file, or None while its writer holds the lock."""
    try:
        if not lock.exists():
            return file.read_bytes()
        with lock.open() as held:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return file.read_bytes()
    except (BlockingIOError, FileNotFoundError):
        return None


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0
