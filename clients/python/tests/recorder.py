"""A producer that keeps what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plumbline_sae.coverage import Missing
from plumbline_sae.tensors import Array, tensor_of


@dataclass
class Sent:
    site: str
    request: str
    rows: Array
    dtype: str
    targets: Array | None
    token_ids: Array | None
    headers: Mapping[str, str]
    timestamp_ms: int | None


class Recorder:
    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.missing: dict[str, Missing] = {}
        self.dropped: list[tuple[str, int]] = []

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
        tensor = tensor_of(activations)
        rows = np.array(tensor.widened())
        keep = slice(None) if special is None else ~np.asarray(special, dtype=bool)
        ids = None if token_ids is None else np.array(tensor_of(token_ids).values)[keep]
        mapped = None if targets is None else np.array(tensor_of(targets).widened())[keep]
        self.sent.append(Sent(site, request, rows[keep], tensor.dtype, mapped, ids, headers or {}, timestamp_ms))
        self.count_missing(site, Missing.of_request(tokens_served, len(rows), cached))
        return True

    def count_missing(self, site: str, missing: Missing) -> None:
        self.missing[site] = self.missing.get(site, Missing()) + missing

    def count_dropped(self, site: str, request: str, rows: int, reason: str) -> None:
        self.dropped.append((site, rows))

    def flush(self, timeout: float = 10.0) -> int:
        return 0

    def of(self, request: str) -> Sent:
        found = [sent for sent in self.sent if sent.request == request]
        assert len(found) == 1, f"{len(found)} records of {request}"
        return found[0]

    def of_site(self, site: str) -> Sent:
        found = [sent for sent in self.sent if sent.site == site]
        assert len(found) == 1, f"{len(found)} records of {site}"
        return found[0]
