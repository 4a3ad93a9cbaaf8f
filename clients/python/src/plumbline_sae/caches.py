"""Turns recorded requests into the cache of activations that SAELens trains from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import numpy as np

from .dumps import Request, read_dump

_TYPES = {"float32": np.float32, "float16": np.float16}


@dataclass(frozen=True)
class Cached:
    """What was written.

    Attributes:
        contexts: the cache's rows, `context_size` tokens each.
        rows_left_out: of ends of requests that fill no context; a cache's contexts have one length.
    """

    contexts: int
    rows_left_out: int


def saelens_cache(
    dumps: Sequence[str | Path], folder: str | Path, hook_name: str, context_size: int, *, dtype: str = "float32"
) -> Cached:
    """Writes the activations of dumps as a folder that `datasets.load_from_disk` and SAELens read.

    The column `hook_name` holds [context_size, width]; `token_ids` stands beside it where every request has them. A
    request is cut into contexts from its first row on, and no context holds rows of two requests.

    Args:
        dumps: files, such as `plumbline export-training` writes.
        folder: to write; must not exist. It becomes `cached_activations_path` of a run.
        hook_name: `hook_name` of the SAE to be trained.
        context_size: its `context_size`.
        dtype: float32 or float16.

    Raises:
        ValueError: when no request fills a context, widths differ, or an argument cannot be.
        FileExistsError: when the folder exists.
    """
    folder = Path(folder)
    if context_size < 1 or dtype not in _TYPES:
        raise ValueError(f"context size {context_size}, dtype {dtype}: expected 1 or more, and one of {list(_TYPES)}")
    if folder.exists():
        raise FileExistsError(f"{folder} exists: name a folder that does not")
    rows = contexts = 0
    width: int | None = None
    tokens = True
    for request in read_dump(*dumps):
        if width is not None and request.activations.shape[1] != width:
            raise ValueError(f"requests of {width} and {request.activations.shape[1]} columns are not of one site")
        width = request.activations.shape[1]
        rows += len(request.activations)
        contexts += len(request.activations) // context_size
        tokens = tokens and request.token_ids is not None
    if contexts == 0:
        raise ValueError(f"no request has {context_size} rows: name a smaller context size")
    columns: dict[str, Any] = {hook_name: datasets.Array2D(shape=(context_size, width), dtype=dtype)}
    if tokens:
        columns["token_ids"] = datasets.Sequence(datasets.Value("int32"), length=context_size)

    def examples() -> Iterator[dict[str, Any]]:
        for request in read_dump(*dumps):
            for first in range(0, len(request.activations) - context_size + 1, context_size):
                yield _context(request, slice(first, first + context_size))

    def _context(request: Request, part: slice) -> dict[str, Any]:
        found = {hook_name: np.asarray(request.activations[part]).astype(_TYPES[dtype])}
        if tokens:
            found["token_ids"] = np.asarray(request.token_ids[part]).astype(np.int32)
        return found

    with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=".cache-") as scratch:
        whole = datasets.Dataset.from_generator(
            examples, features=datasets.Features(columns), cache_dir=scratch, keep_in_memory=False
        )
        whole.save_to_disk(str(Path(scratch) / "written"), num_shards=1)
        (Path(scratch) / "written").rename(folder)
    return Cached(contexts, rows - contexts * context_size)
