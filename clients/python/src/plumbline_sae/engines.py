"""What serving engines hand out, as the rows of one request: vLLM, vllm-lens, interp-engine, SGLang.

Engines disagree about layers and axes. Here a layer is always named as TransformerLens names it:
`blocks.5.hook_resid_pre` is what enters block 5, `blocks.5.hook_resid_post` is what leaves it, before any final norm.

| engine            | shape                    | its number of `blocks.5.hook_resid_post` |
|-------------------|--------------------------|------------------------------------------|
| vLLM's connectors | [tokens, layers, hidden] | 6: what enters block 6                   |
| vllm-lens         | [layers, tokens, hidden] | 5: what leaves block 5                   |
| interp-engine     | [tokens, hidden] each    | resid_post.5                             |
"""

from __future__ import annotations

import base64
import fcntl
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .layers import LayersOfFile, entering_layer, layer_ids_of, leaving_layer, rows_of_layer
from .producer import PATIENCE, Sink
from .tensors import Tensor, decode, tensor_of

__all__ = [
    "FileStats",
    "VllmFiles",
    "entering_layer",
    "leaving_layer",
    "rows_of_layer",
    "send_interp",
    "send_lens",
    "sglang_rows",
    "vllm_config",
]

_LOG = logging.getLogger(__name__)
_UNFINISHED_SECONDS = 10.0


def vllm_config(hooks: Mapping[str, str], path: str | Path = "/dev/shm/plumbline") -> dict[str, Any]:
    """Returns arguments of `vllm.LLM` that make vLLM write the hidden states of some places, a file a request.

    For `vllm serve`, give the two dictionaries as JSON to `--speculative-config` and `--kv-transfer-config`.

    Args:
        hooks: for each site its place, such as `blocks.5.hook_resid_post`.
        path: a folder in memory; `VllmFiles` reads it and removes what it has sent.
    """
    return {
        "speculative_config": {
            "method": "extract_hidden_states",
            "num_speculative_tokens": 1,
            "draft_model_config": {"hf_config": {"eagle_aux_hidden_state_layer_ids": layer_ids_of(hooks)}},
        },
        "kv_transfer_config": {
            "kv_connector": "ExampleHiddenStatesConnector",
            "kv_role": "kv_producer",
            "kv_connector_extra_config": {"shared_storage_path": str(path)},
        },
    }


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
    # One time at all sites: a baseline of a model finds by it the requests that all of them have.
    event_time = int(time.time() * 1000)
    for site, hook in hooks.items():
        layer = leaving_layer(hook)
        if layer not in layers:
            raise ValueError(f"site {site}: block {layer} is not among those that were asked for, {list(layers)}")
        rows = rows_of_layer(residual_stream, len(layers), list(layers).index(layer), tokens=None, axes="layers_first")
        complete &= producer.send(site, request, rows, token_ids=token_ids, timestamp_ms=event_time, headers=headers)
    return complete


def send_interp(
    producer: Sink,
    hooks: Mapping[str, str],
    request: str,
    activations: Mapping[Any, Any],
    *,
    token_ids: Any = None,
    headers: Mapping[str, str] | None = None,
) -> bool:
    """Sends what interp-engine captured for a request: `capture` of its Python side, or its server's answer.

    Args:
        producer: where rows go.
        hooks: for each site its place on the residual stream.
        request: the request's name.
        activations: by address, such as `resid_post.5`: [tokens, width], or an object with `dtype`, `shape` and `data`
            in base64, as the server sends it. What a block leaves and what enters the next one are the same rows.
        token_ids: [tokens], where they are known; of `capture_generation` there is one more than rows.
        headers: further headers.

    Returns:
        False when rows were dropped.

    Raises:
        ValueError: when a site's place was not captured.
    """
    found = {str(address): rows for address, rows in activations.items()}
    complete = True
    event_time = int(time.time() * 1000)  # as of send_lens
    for site, hook in hooks.items():
        names = [f"resid_pre.{entering_layer(hook)}", f"resid_post.{entering_layer(hook) - 1}"]
        captured = next((found[name] for name in names if name in found), None)
        if captured is None:
            wanted = " or ".join(name for name in names if not name.endswith(".-1"))
            raise ValueError(f"site {site}: {wanted} is not among what was captured, {sorted(found)}")
        rows = _of_payload(captured) if isinstance(captured, Mapping) else tensor_of(captured)
        ids = None if token_ids is None else tensor_of(token_ids).values[: rows.shape[0]]
        complete &= producer.send(
            site,
            request,
            rows,
            token_ids=ids,
            timestamp_ms=event_time,
            headers={"engine": "interp-engine", **(headers or {})},
        )
    return complete


def _of_payload(payload: Mapping[str, Any]) -> Tensor:
    """Returns the rows that interp-engine's server wrote as text."""
    types = {"float32": ("F32", "<f4"), "float16": ("F16", "<f2"), "bfloat16": ("BF16", "<u2")}
    try:
        dtype, numpy = types[payload["dtype"]]
        values = np.frombuffer(base64.b64decode(payload["data"], validate=True), dtype=numpy)
        return Tensor(dtype, values.reshape(payload["shape"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no rows of interp-engine ({error}): expected dtype, shape and data in base64") from None


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
        self._sender = LayersOfFile(hooks, producer, layer_ids, shorter, {"engine": "vllm", **(headers or {})})
        self._delete = delete
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
        """Sends the files that are there and whole, and waits for room; returns how many it has read."""
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
            self._sender.send(file.stem, decode(blob), patience=PATIENCE)
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
