"""Recorded activations as files that the product's commands read: `plumbline baseline`, `assess`, `replay`."""

from __future__ import annotations

import itertools
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .coverage import Missing
from .producer import request_tensors, rows_of
from .tensors import FLOATS, Tensor, decode, encode, tensor_of

_NAMES = ("activations", "targets", "token_ids")
_ROWS_WITHOUT_OFFSETS = 128
"""Rows of a request in a file that does not say, as the product reads it."""


@dataclass(frozen=True)
class Request:
    """One request's rows.

    Attributes:
        activations: [tokens, width], in a float type.
        targets: [tokens, width written], for a transcoder.
        token_ids: integers [tokens].
    """

    activations: Any
    targets: Any = None
    token_ids: Any = None


@dataclass
class _Shard:
    requests: list[dict[str, Tensor]] = field(default_factory=list)
    rows: int = 0


def write_dump(path: str | Path, requests: Iterable[Request], *, shard_rows: int = 100_000) -> list[Path]:
    """Writes requests into files of about `shard_rows` rows; a request is never cut.

    Args:
        path: one file where everything fits in it; else its name gets a number: `monday.safetensors` becomes
            `monday-00000.safetensors`, `monday-00001.safetensors`, and so on.
        requests: in the order of time; they are read one at a time.
        shard_rows: rows after which the next file begins.

    Returns:
        The files, in order: give them all to `plumbline baseline --activations`.

    Raises:
        ValueError: when requests do not agree on tensors, types or widths, or there is none.
    """
    files = _Files(Path(path), shard_rows)
    for number, request in enumerate(requests):
        files.add(_tensors(number, request))
    return files.close()


class Recording:
    """Writes one site's rows to files as they come. Takes the place of a `Producer`, to record what is normal.

        with Recording("monday.safetensors") as recording:
            with capture(model, recording, {"residual.5": "blocks.5.hook_resid_post"}) as captured: ...
        print(recording.files)

    At most `shard_rows` rows are in memory. Thread-safe.

    Args:
        path: the file, or the beginning of the names of several, as `write_dump` has them.
        shard_rows: rows after which the next file begins.
    """

    def __init__(self, path: str | Path, *, shard_rows: int = 100_000) -> None:
        self._files = _Files(Path(path), shard_rows)
        self._lock = threading.Lock()
        self._site: str | None = None
        self.files: list[Path] = []

    def send(
        self,
        site: str,
        request: str,
        activations: Any,
        *,
        targets: Any = None,
        token_ids: Any = None,
        special: Any = None,
        timestamp_ms: int | None = None,
        headers: Mapping[str, str] | None = None,
        tokens_served: int | None = None,
        cached: int = 0,
        patience: float = 0.0,
    ) -> bool:
        """Adds one request's rows, as `Producer.send` takes them.

        Raises:
            ValueError: when they do not fit each other or the rows before, or are of another site.
        """
        with self._lock:
            if self._site not in (None, site):
                raise ValueError(f"site {site}: the recording is of {self._site}; make one for each site")
            self._site = site
            self._files.add(request_tensors(activations, targets, token_ids, special))
        return True

    def count_dropped(self, site: str, request: str, rows: int, reason: str) -> None:
        """Does nothing: a recording without some requests is one of the others."""

    def count_missing(self, site: str, missing: Missing) -> None:
        """Does nothing, as `count_dropped`."""

    def flush(self, timeout: float = 10.0) -> int:
        """Returns 0: what is in memory is written at the end."""
        return 0

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Writes what is left; `files` then has all of them.

        Raises:
            ValueError: when no row came.
        """
        if kind is None:
            self.files = self._files.close()


class _Files:
    """Requests on their way into one file, or several with numbers."""

    def __init__(self, target: Path, shard_rows: int) -> None:
        self._target = target
        self._shard_rows = shard_rows
        self._written: list[Path] = []
        self._shard = _Shard()
        self._kind: dict[str, tuple[str, tuple[int, ...]]] | None = None
        self._requests = 0

    def add(self, tensors: dict[str, Tensor]) -> None:
        number, rows = self._requests, rows_of(tensors)
        self._requests += 1
        if rows == 0:
            return
        this = {name: (tensor.dtype, tensor.shape[1:]) for name, tensor in tensors.items()}
        self._kind = self._kind or this
        if this != self._kind:
            raise ValueError(f"request {number} has {_said(this)}, those before it {_said(self._kind)}")
        if self._shard.rows and self._shard.rows + rows > self._shard_rows:
            self._written.append(_numbered(self._target, len(self._written)))
            _write(self._written[-1], self._shard)
            self._shard = _Shard()
        # The caller may overwrite its rows before the file is written.
        self._shard.requests.append(
            {name: tensor.with_values(tensor.values.copy()) for name, tensor in tensors.items()}
        )
        self._shard.rows += rows

    def close(self) -> list[Path]:
        if not self._shard.requests:
            raise ValueError("no request has a row: a file without rows is no recording")
        self._written.append(_numbered(self._target, len(self._written)) if self._written else self._target)
        _write(self._written[-1], self._shard)
        return self._written


def read_dump(*paths: str | Path) -> Iterator[Request]:
    """Yields the requests of files, in order; tensors are numpy arrays, bfloat16 widened to float32.

    Raises:
        ValueError: when a file is no recording.
    """
    for path in paths:
        try:
            tensors = decode(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        if "hidden_states" in tensors and "activations" not in tensors:
            tensors["activations"] = tensors.pop("hidden_states")
        if "activations" not in tensors or len(tensors["activations"].shape) != 2:
            raise ValueError(f"{path}: expected a tensor activations [rows, width]")
        values = {name: tensors[name].widened() for name in _NAMES if name in tensors}
        rows = len(values["activations"])
        offsets = (
            tensors["request_offsets"].values
            if "request_offsets" in tensors
            else np.append(np.arange(0, rows, _ROWS_WITHOUT_OFFSETS), rows)
        )
        if offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) <= 0).any():
            raise ValueError(f"{path}: request_offsets do not run from 0 to {rows}, ascending")
        for first, end in itertools.pairwise(offsets):
            yield Request(**{name: array[first:end] for name, array in values.items()})


def baseline(
    dumps: Sequence[str | Path],
    explainer: str | Path,
    out: str | Path,
    *,
    rank: int,
    launcher: str = "plumbline",
    **options: Any,
) -> str:
    """Makes a baseline with the product's own command, and returns what it printed.

    Args:
        dumps: files of normal traffic, in the order of time.
        explainer: the explainer's folder.
        out: the baseline file to write.
        rank: of the subspaces that are compared.
        launcher: the command `plumbline`, or its path.
        options: further options of `plumbline baseline`: `window_rows=2048` is `--window-rows 2048`.

    Raises:
        RuntimeError: when the command fails, with what it said.
    """
    words = [launcher, "baseline", "--explainer", explainer, "--activations", *dumps, "--rank", rank, "--out", out]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _tensors(number: int, request: Request) -> dict[str, Tensor]:
    found = {name: tensor_of(getattr(request, name)) for name in _NAMES if getattr(request, name) is not None}
    if "token_ids" in found:
        found["token_ids"] = Tensor("I64", found["token_ids"].values.astype("<i8"))
    rows = found["activations"]
    if len(rows.shape) != 2 or rows.dtype not in FLOATS:
        raise ValueError(f"request {number}: activations are {rows.dtype} {list(rows.shape)}, expected [tokens, width]")
    for name, tensor in found.items():
        if len(tensor.values) != len(rows.values):
            raise ValueError(f"request {number}: {name} has {len(tensor.values)} entries, expected {len(rows.values)}")
    return found


def _said(kind: dict[str, tuple[str, tuple[int, ...]]]) -> str:
    return ", ".join(f"{name} {dtype} {['rows', *shape]}" for name, (dtype, shape) in kind.items())


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number:05d}{path.suffix}")


def _write(path: Path, shard: _Shard) -> None:
    tensors = {
        name: tensor.with_values(np.concatenate([request[name].values for request in shard.requests]))
        for name, tensor in shard.requests[0].items()
    }
    lengths = [rows_of(request) for request in shard.requests]
    tensors["request_offsets"] = Tensor("I64", np.concatenate([[0], np.cumsum(lengths)]).astype("<i8"))
    path.write_bytes(encode(tensors))
