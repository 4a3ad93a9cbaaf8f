"""How a site's rows are added up: what the service's configuration says of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Mask:
    """Rows that enter no sum. It must be the site's `mask`: the service refuses moments of another one.

    Attributes:
        token_ids: `mask.token_ids` of the site.
        norm: the Euclidean norm above which a target row is left out, or None.
    """

    token_ids: tuple[int, ...] = ()
    norm: float | None = None

    @classmethod
    def of_baseline(cls, baseline: str | Path, norm_cap: float, token_ids: Collection[int] = ()) -> Mask:
        """Returns the mask of a site with `mask: {token_ids: ..., norm_cap: ...}` and this baseline file.

        Raises:
            ValueError: when the baseline does not say how long its median row is.
        """
        import safetensors

        open_file: Any = safetensors.safe_open
        with open_file(str(baseline), framework="numpy") as file:
            if "median_norm" not in file.keys():  # noqa: SIM118  # no mapping
                raise ValueError(f"{baseline}: has no tensor median_norm; run `plumbline baseline` again")
            median = float(file.get_tensor("median_norm").reshape(-1)[0])
        return cls(tuple(sorted(set(token_ids))), norm_cap * median)


@dataclass(frozen=True)
class Accumulation:
    """How a site's rows are added up.

    Attributes:
        pane_ms: length of a pane: it must divide the greatest common divisor of `window.size` and `window.advance`.
        sample_rows: raw rows that travel with a moment, at most; the service's own `sample.rows` is 4,096.
        mask: the site's mask.
        f32: whether the moment travels as float32, half as long; its error bound travels with it.
        request_totals: requests whose names and sums travel with a moment, so that they are scored, at most; never
            more than 1,024, or than take 1 MiB. 0 sends none.
    """

    pane_ms: int
    sample_rows: int = 4_096
    mask: Mask = field(default_factory=Mask)
    f32: bool = False
    request_totals: int = 1_024

    def __post_init__(self) -> None:
        if self.pane_ms < 1 or self.sample_rows < 1:
            raise ValueError(f"pane_ms = {self.pane_ms}, sample_rows = {self.sample_rows}: expected at least 1")
        if self.request_totals < 0:
            raise ValueError(f"request_totals = {self.request_totals}: expected at least 0")
