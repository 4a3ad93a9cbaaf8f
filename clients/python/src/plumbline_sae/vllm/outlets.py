"""Where the rows of requests go: to a producer request by request, or into moments step by step."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..coverage import Missing
from ..decoders import Decoder
from ..moments import MomentAccumulator
from ..producer import PATIENCE, Producer
from ..rows import concatenated, take
from ..tensors import Array, Tensor, tensor_of
from .joining import Request, Run, Settled, StepRows
from .places import Place
from .settings import WatchedSite

_NOT_TAKEN = "max_waiting_bytes of rows wait for the tap's thread already, or a step failed, as the log says"


class Outlet(Protocol):
    """Takes what stands of requests, on the tap's thread."""

    keeps_on_device: bool
    """Whether rows stay on the device that computed them."""

    part_rows: int
    """How many tokens of a request must stand before it is settled; its end settles it, too."""

    def hold(self, rows: Mapping[Place, Any]) -> Mapping[Any, Any]:
        """Returns what is held of a step's rows until their requests are settled."""

    def swap(self, decoder: Decoder) -> None:
        """Reads the steps that follow with another decoder."""

    def send(self, settled: Sequence[tuple[Request, Settled]]) -> int:
        """Sends what stands of some requests; returns how many rows, of all sites together."""

    def flush(self, timeout: float) -> int:
        """Waits until everything is stored; returns how many records still wait."""

    @property
    def summary(self) -> str:
        """Returns what became of the rows, for the log."""


class _Sites:
    """The places of sites, and the tokens that are left out."""

    def __init__(self, sites: Mapping[str, WatchedSite], special_ids: Sequence[int]) -> None:
        self.sites = dict(sites)
        self._special = np.array(sorted(special_ids), dtype=np.int64)

    def special(self, ids: Array) -> Array | None:
        """Returns which tokens are left out, or None where none is."""
        found = np.isin(ids, self._special) if len(self._special) else None
        return found if found is not None and found.any() else None


class Reader(Protocol):
    """An explainer that reads rows: a `FeatureTap`."""

    def read(self, rows: Any) -> dict[str, Tensor]:
        """Returns `reconstructions`, `code_indices` and `code_values`, on the host."""

    def swap(self, decoder: Decoder) -> None:
        """Reads with another decoder from here on."""


class RowsOutlet(_Sites):
    """Sends each request's rows: at its end, and before where it is long.

    Where explainers read them, rows stay on the device until they are read, on the tap's thread.
    """

    def __init__(
        self,
        sites: Mapping[str, WatchedSite],
        special_ids: Sequence[int],
        part_rows: int,
        producer: Producer,
        readers: Mapping[str, Reader] | None = None,
    ) -> None:
        super().__init__(sites, special_ids)
        self.part_rows = part_rows
        self._producer = producer
        self._readers = dict(readers or {})
        self.keeps_on_device = bool(self._readers)

    def hold(self, rows: Mapping[Place, Any]) -> Mapping[Any, Any]:
        held: dict[Any, Any] = {place: tensor_of(values) for place, values in rows.items()}
        for name, reader in self._readers.items():
            for part, values in reader.read(rows[self.sites[name].at]).items():
                held[name, part] = values
        return held

    def swap(self, decoder: Decoder) -> None:
        if decoder.site in self._readers:
            self._readers[decoder.site].swap(decoder)

    def send(self, settled: Sequence[tuple[Request, Settled]]) -> int:
        return sum(self._send(request, found) for request, found in settled)

    def _send(self, request: Request, settled: Settled) -> int:
        ids = np.concatenate([run.step.ids[run.first : run.end] for run in settled.runs]) if settled.runs else None
        special = None if ids is None else self.special(ids)
        sent = 0
        # One time at all sites: a baseline of a model finds by it the requests that all of them have.
        event_time = int(time.time() * 1000)
        for name, site in self.sites.items():
            if settled.dropped:
                self._producer.count_dropped(name, request.name, settled.dropped, _NOT_TAKEN)
            missing = Missing(not_sampled=settled.not_sampled, cached=0 if settled.runs else settled.cached)
            self._producer.count_missing(name, missing)
            if settled.runs:
                try:
                    rows = _joined(settled.runs, site.at)
                    targets = None if site.targets is None else _joined(settled.runs, site.targets)
                    read = self._read(name, settled.runs)
                except Exception as error:  # no memory, as a rule
                    self._producer.count_dropped(name, request.name, settled.rows, str(error))
                    self._producer.count_missing(name, Missing(cached=settled.cached))
                    continue
                self._producer.send(
                    name,
                    request.name,
                    rows,
                    targets=targets,
                    token_ids=ids,
                    special=special,
                    timestamp_ms=event_time,
                    headers=request.headers,
                    cached=settled.cached,
                    patience=PATIENCE,
                    **read,
                )
                sent += settled.rows
        return sent

    def _read(self, name: str, runs: Sequence[Run]) -> dict[str, Any]:
        """Returns what a site's explainer made of the rows; nothing where it has none."""
        if name not in self._readers:
            return {}
        codes = tuple(_joined(runs, (name, f"code_{part}")) for part in ("indices", "values"))
        return {"reconstructions": _joined(runs, (name, "reconstructions")), "codes": codes}

    def flush(self, timeout: float) -> int:
        return self._producer.flush(timeout)

    @property
    def summary(self) -> str:
        return str(self._producer.stats)


class MomentsOutlet(_Sites):
    """Adds up the rows of each step where they are: one batch a step, site and origin."""

    keeps_on_device = True
    part_rows = 1

    def __init__(
        self,
        sites: Mapping[str, WatchedSite],
        special_ids: Sequence[int],
        producer: Producer,
        moments: MomentAccumulator,
    ) -> None:
        super().__init__(sites, special_ids)
        self._producer = producer
        self._moments = moments

    def hold(self, rows: Mapping[Place, Any]) -> Mapping[Any, Any]:
        return rows

    def swap(self, decoder: Decoder) -> None:
        """Does nothing: no explainer reads rows that are added up."""

    def send(self, settled: Sequence[tuple[Request, Settled]]) -> int:
        origins: dict[tuple[tuple[str, str], ...], list[tuple[Request, Settled]]] = {}
        for request, found in settled:
            for name in self.sites:
                if found.dropped:
                    self._moments.count_dropped(name, request.name, found.dropped, _NOT_TAKEN)
                self._moments.count_missing(name, Missing(cached=found.cached, not_sampled=found.not_sampled))
            if found.runs:
                origins.setdefault(tuple(sorted(request.headers.items())), []).append((request, found))
        return sum(self._add(batch, dict(origin)) for origin, batch in origins.items())

    def _add(self, batch: Sequence[tuple[Request, Settled]], headers: Mapping[str, str]) -> int:
        by_step: dict[StepRows, list[tuple[int, Run]]] = {}
        for number, (_, settled) in enumerate(batch):
            for run in settled.runs:
                by_step.setdefault(run.step, []).append((number, run))
        rows = {
            step: np.concatenate([np.arange(run.first, run.end) for _, run in runs]) for step, runs in by_step.items()
        }
        owners = [(number, run) for runs in by_step.values() for number, run in runs]
        index = np.repeat([number for number, _ in owners], [run.end - run.first for _, run in owners])
        ids = np.concatenate([step.ids[chosen] for step, chosen in rows.items()])
        special = self.special(ids)

        def of(place: Place) -> Any:
            return concatenated([_chosen(step.places[place], chosen) for step, chosen in rows.items()])

        sent = 0
        for name, site in self.sites.items():
            try:
                activations, targets = of(site.at), None if site.targets is None else of(site.targets)
            except Exception as error:  # no memory on the device, as a rule
                for request, settled in batch:
                    self._moments.count_dropped(name, request.name, settled.rows, str(error))
                continue
            self._moments.send_step(
                name,
                [request.name for request, _ in batch],
                index,
                activations,
                targets=targets,
                token_ids=ids,
                special=special,
                headers=headers,
            )
            sent += len(index)
        return sent

    def flush(self, timeout: float) -> int:
        return self._moments.flush(timeout)

    @property
    def summary(self) -> str:
        return str(self._producer.stats)


def _joined(runs: Sequence[Run], place: Any) -> Tensor:
    """Returns the rows of a request, which are on the host."""
    parts: list[Tensor] = [run.step.places[place] for run in runs]
    chosen = [part.values[run.first : run.end] for part, run in zip(parts, runs, strict=True)]
    return parts[0].with_values(np.concatenate(chosen))


def _chosen(values: Any, rows: Array) -> Any:
    """Returns rows of a step, wherever it is; a step whose rows are all taken is not copied."""
    if len(rows) == len(values) and np.array_equal(rows, np.arange(len(rows))):
        return values
    return take(values, rows)
