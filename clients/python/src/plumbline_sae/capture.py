"""Takes activations out of a torch model while it serves, and sends them from a thread.

The hook itself selects the rows of tokens that count and copies them; masks, encoding and Kafka are the thread's work.
Nothing that goes wrong in a hook reaches the model: it is counted, and the first time it is logged.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import queue
import threading
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import torch

from .batches import Batch, Step, joined
from .coverage import Missing
from .producer import Sink
from .sites import Site, place_of, register
from .tensors import Array, tensor_of

_LOG = logging.getLogger(__name__)
_SAMPLE_STEPS = 1 << 32


@dataclass(frozen=True)
class CaptureStats:
    """What a capture has taken so far.

    Attributes:
        requests: requests that were captured, after sampling.
        rows: rows that were handed to the producer, over all sites.
        dropped_rows: rows given up because too many waited for the thread.
        failed: hooks and requests that could not be captured; `last_error` says why.
        last_error: the latest failure as a sentence, or None.
    """

    requests: int = 0
    rows: int = 0
    dropped_rows: int = 0
    failed: int = 0
    last_error: str | None = None


def capture(
    model: torch.nn.Module,
    producer: Sink,
    sites: Mapping[str, Site | str],
    *,
    sample: float = 1.0,
    max_waiting_bytes: int = 256 << 20,
    special_ids: Collection[int] = (),
    headers: Mapping[str, str] | None = None,
) -> Capture:
    """Hooks the sites of a model.

    Args:
        model: the model that is called: its attention mask and input ids are read where `batch` is not given them.
        producer: where rows go.
        sites: for each site of plumbline.yaml a place: a module's path, a hook's name, or a `Site`.
        sample: share of requests that are captured, chosen by a hash of their names.
        max_waiting_bytes: bytes that may wait for the thread; beyond them requests are dropped and counted.
        special_ids: tokens whose rows are left out, such as `tokenizer.all_special_ids`. After the first of them that
            a `generate` made, nothing more is taken of the request.
        headers: sent with every record.

    Raises:
        ValueError: when the model has no such place.
    """
    if not 0.0 < sample <= 1.0:
        raise ValueError(f"sample = {sample}: expected a share above 0, at most 1")
    return Capture(model, producer, sites, sample, max_waiting_bytes, frozenset(special_ids), dict(headers or {}))


@dataclass(frozen=True)
class _Waiting:
    """A batch that is whole, its bytes, and the ends of its copies from the accelerator."""

    batch: Batch
    size: int
    copies: list[torch.cuda.Event]


class Capture:
    """A model whose sites are captured; made by `capture`.

    with capture(model, producer, {"residual.5": "blocks.5.hook_resid_post"}) as captured:
        with captured.batch(request_ids):
            model(**inputs)  # or model.generate(**inputs): its steps are joined per request

    Outside of `batch` nothing is taken. Batches of several threads do not meet each other.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        producer: Sink,
        sites: Mapping[str, Site | str],
        sample: float,
        max_waiting_bytes: int,
        special_ids: frozenset[int],
        headers: dict[str, str],
    ) -> None:
        self._producer = producer
        self._sample = sample
        self._special_ids = np.array(sorted(special_ids), dtype=np.int64)
        self._headers = headers
        self._max_waiting_bytes = max_waiting_bytes
        self._here = threading.local()
        self._lock = threading.Lock()
        self._waiting = 0
        self._counts = CaptureStats()
        self._streams: dict[torch.device, torch.cuda.Stream] = {}
        self._queue: queue.SimpleQueue[_Waiting | threading.Event | None] = queue.SimpleQueue()
        self._handles: list[Any] = []
        self._pairs: set[str] = set()
        self._places: dict[tuple[str, str], str] = {}
        self._silent: dict[str, int] = {}
        self._warned: set[str] = set()
        try:
            self._hook(model, sites)
        except BaseException:
            self._unhook()
            raise
        self._thread = threading.Thread(target=self._work, name="plumbline-capture", daemon=True)
        self._thread.start()

    def _hook(self, model: torch.nn.Module, sites: Mapping[str, Site | str]) -> None:
        self._handles.append(model.register_forward_pre_hook(self._begin_call, with_kwargs=True))
        for name, where in sites.items():
            site = Site(where) if isinstance(where, str) else where
            ends = [("activations", site.module, site.at)]
            if site.targets is not None:
                target = (site.targets, "output") if isinstance(site.targets, str) else site.targets
                ends.append(("targets", *target))
                self._pairs.add(name)
            for tensor, path, at in ends:
                key = (name, tensor)
                self._places[key] = path
                take, refuse = functools.partial(self._take, key), functools.partial(self._refuse, key)
                self._handles.append(register(place_of(model, path, at), take, refuse))

    @property
    def stats(self) -> CaptureStats:
        """Returns what was taken so far."""
        with self._lock:
            return self._counts

    @property
    def silent(self) -> dict[str, int]:
        """Returns how many batches called the model and did not come by a site's place, of each site with one.

        Its hook did not run: the model leaves the module out, or TransformerLens has the hook switched off.
        """
        with self._lock:
            return dict(self._silent)

    @contextlib.contextmanager
    def batch(
        self,
        request_ids: Sequence[str],
        attention_mask: Any = None,
        special_tokens_mask: Any = None,
        input_ids: Any = None,
        *,
        timestamp_ms: int | None = None,
        headers: Sequence[Mapping[str, str]] | None = None,
        **others: Any,
    ) -> Iterator[None]:
        """Captures what the model is called for: one forward pass, or one `generate`, of these requests.

        Args:
            request_ids: a name for each row of the batch.
            attention_mask: [requests, tokens], 0 where there is padding, on either side; default: the one that the
                model is called with, and without that every position counts.
            special_tokens_mask: [requests, tokens], 1 where a token is special; these rows are left out.
            input_ids: [requests, tokens]; sent as `token_ids`; default: those that the model is called with.
            timestamp_ms: event time; default: when the rows are sent.
            headers: further headers of each request, such as `{"tags": "tenant=acme"}`.
            others: ignored, so that a tokenizer's whole output can be given.
        """
        names = [str(name) for name in request_ids]
        previous = getattr(self._here, "batch", None)
        batch: Batch | None = None
        try:
            batch = Batch(
                names,
                np.array([self._is_sampled(name) for name in names], dtype=bool),
                as_mask(attention_mask),
                as_mask(special_tokens_mask),
                None if input_ids is None else tensor_of(input_ids).values.astype(np.int64),
                timestamp_ms,
                self._special_ids,
                ended=np.zeros(len(names), dtype=bool),
                headers=None if headers is None else [dict(headers[index]) for index in range(len(names))],
            )
        except Exception as error:
            self._failed(f"batch of {len(names)} requests: {error}")
        self._here.batch = batch
        try:
            yield
        finally:
            self._here.batch = previous
            if batch is not None:
                self._miss(batch)
                self._note_silent(batch)
                if batch.steps:
                    self._enqueue(batch)

    def _miss(self, batch: Batch) -> None:
        try:
            for site, tokens in batch.not_sampled.items():
                self._producer.count_missing(site, Missing(not_sampled=tokens))
        except Exception as error:
            self._failed(f"a batch of {len(batch.requests)} requests: {error}")

    def _note_silent(self, batch: Batch) -> None:
        """Counts the sites whose place the batch's calls of the model did not come by."""
        if not batch.called and not batch.came:
            return
        for key in self._places.keys() - batch.came:
            site, tensor = key
            with self._lock:
                self._silent[site] = self._silent.get(site, 0) + 1
            self._warn_once(
                site,
                f"the model was called and did not come by {self._places[key]}, the place of its {tensor};"
                " such batches are counted in captured.silent",
            )

    def _warn_once(self, site: str, what: str) -> None:
        with self._lock:
            first = site not in self._warned
            self._warned.add(site)
        if first:
            _LOG.warning("site %s: no rows are captured: %s", site, what)

    def flush(self, timeout: float = 10.0) -> int:
        """Waits until everything captured is stored; returns how many records still wait after `timeout` seconds."""
        self.drain(timeout)
        return self._producer.flush(timeout)

    def drain(self, timeout: float = 10.0) -> bool:
        """Waits until everything captured was handed to the producer; False when it was not within the timeout."""
        mark = threading.Event()
        if not self._thread.is_alive():
            return True
        self._queue.put(mark)
        return mark.wait(timeout)

    def remove(self) -> None:
        """Takes the hooks out of the model and ends the thread, when what waits has been handed to the producer."""
        self._unhook()
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def _unhook(self) -> None:
        while self._handles:
            self._handles.pop().remove()

    def _is_sampled(self, request: str) -> bool:
        return self._sample >= 1.0 or zlib.crc32(request.encode()) < self._sample * _SAMPLE_STEPS

    # --- in the forward pass ------------------------------------------------------------------------------------------

    def _begin_call(self, module: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Reads the ids and the mask that the model is called with."""
        batch: Batch | None = getattr(self._here, "batch", None)
        if batch is None:
            return
        batch.called = True
        try:
            ids = kwargs.get("input_ids")
            if ids is None:
                ids = kwargs.get("input")
            if ids is None and inputs and isinstance(inputs[0], torch.Tensor) and not inputs[0].is_floating_point():
                ids = inputs[0]
            if isinstance(ids, torch.Tensor) and ids.ndim == 2:
                given = kwargs.get("attention_mask")
                mask = given if isinstance(given, torch.Tensor) and given.ndim == 2 else None
                batch.call = batch.plan((ids.shape[0], ids.shape[1]), ids, mask)
            else:
                batch.call = None
        except Exception as error:
            batch.call = None
            self._failed(f"a call of {len(batch.requests)} requests: {error}")

    def _take(self, key: tuple[str, str], hidden: Any) -> None:
        """Copies the rows that count; the model may overwrite what it gave."""
        batch: Batch | None = getattr(self._here, "batch", None)
        if batch is None:
            return
        batch.came.add(key)
        if key[0] in batch.refused:
            return
        try:
            with torch.no_grad():
                self._copy(batch, key, hidden)
        except Exception as error:
            self._failed(f"site {key[0]}: {error}")

    def _refuse(self, key: tuple[str, str], why: str) -> None:
        """Takes nothing of a pass whose rows are not what the site's name means."""
        batch: Batch | None = getattr(self._here, "batch", None)
        if batch is not None:
            batch.came.add(key)
            batch.refuse(key[0])
        self._warn_once(key[0], why)
        self._count_failure(f"site {key[0]}: {why}")

    def _copy(self, batch: Batch, key: tuple[str, str], hidden: Any) -> None:
        if not isinstance(hidden, torch.Tensor):
            raise TypeError(
                f"the module gives {type(hidden).__name__}, expected a tensor or a tuple that begins with one"
            )
        if hidden.ndim == 2:
            flattened = batch.call is not None and batch.call.shape[0] * batch.call.shape[1] == hidden.shape[0]
            hidden = hidden.reshape(*(batch.call.shape if flattened and batch.call else (1, -1)), hidden.shape[1])
        if hidden.ndim == 4:  # heads apart, as hook_z
            hidden = hidden.flatten(2)
        if hidden.ndim != 3:
            raise ValueError(f"the module gives {list(hidden.shape)}, expected [requests, tokens, width]")
        shape = (hidden.shape[0], hidden.shape[1])
        if batch.call is None:
            batch.call = batch.plan(shape, None, None)
        if batch.call.shape != shape:
            raise ValueError(
                f"the module gives {list(hidden.shape)}, the model is called with {list(batch.call.shape)} tokens"
            )
        call = batch.call
        if batch.last_call.get(key) is call:
            batch.refuse(key[0])
            what = f"{self._places[key]} is called more than once in one call of the model, as where layers share it"
            self._warn_once(key[0], what)
            raise ValueError(f"{what}; no row was taken, since nothing tells which of them is meant")
        batch.last_call[key] = call
        if call.not_sampled and key[1] == "activations":
            batch.not_sampled[key[0]] = batch.not_sampled.get(key[0], 0) + call.not_sampled
        if len(call.take) == 0:
            return
        flat = hidden.detach().reshape(-1, hidden.shape[2])
        rows = flat.clone() if len(call.take) == len(flat) else flat.index_select(0, call.index_on(flat.device))
        if rows.is_cuda:
            rows = self._to_host(rows)
        batch.steps.setdefault(key, []).append(Step(rows, call))

    def _to_host(self, rows: torch.Tensor) -> torch.Tensor:
        """Starts the copy to pinned memory on a stream of its own, so that the model's stream does not wait for it."""
        stream = self._streams.get(rows.device)
        if stream is None:
            stream = self._streams[rows.device] = torch.cuda.Stream(rows.device)
        stream.wait_stream(torch.cuda.current_stream(rows.device))
        with torch.cuda.stream(stream):
            host = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
            host.copy_(rows, non_blocking=True)
            rows.record_stream(stream)
        return host

    def _enqueue(self, batch: Batch) -> None:
        try:
            size = sum(step.rows.nbytes for steps in batch.steps.values() for step in steps if step.rows is not None)
            with self._lock:
                room = self._waiting == 0 or self._waiting + size <= self._max_waiting_bytes
                self._waiting += size if room else 0
            if not room:
                self._drop(batch)
                return
            events = []
            for stream in self._streams.values():
                event = torch.cuda.Event()
                event.record(stream)
                events.append(event)
            self._queue.put(_Waiting(batch, size, events))
        except Exception as error:
            self._failed(f"a batch of {len(batch.requests)} requests: {error}")

    def _drop(self, batch: Batch) -> None:
        reason = f"{self._max_waiting_bytes} bytes wait for the capture's thread already"
        for (site, tensor), steps in batch.steps.items():
            if tensor != "activations":
                continue
            rows = sum(len(step.call.take) for step in steps)
            self._count(dropped_rows=rows)
            self._producer.count_dropped(site, batch.requests[0], rows, reason)

    # --- on the thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            try:
                for event in item.copies:
                    event.synchronize()
                self._send(item.batch)
            except Exception as error:
                self._failed(f"a batch of {len(item.batch.requests)} requests: {error}")
            finally:
                with self._lock:
                    self._waiting -= item.size

    def _send(self, batch: Batch) -> None:
        self._count(requests=int(batch.sampled.sum()))
        for site, tensor in list(batch.steps):
            if tensor == "activations":
                self._send_site(batch, site)

    def _send_site(self, batch: Batch, site: str) -> None:
        found = joined(batch.steps[site, "activations"])
        targets = None
        if site in self._pairs:
            if (site, "targets") not in batch.steps:
                raise ValueError(f"site {site}: the module of the targets was not called")
            written = joined(batch.steps[site, "targets"])
            same = np.array_equal(written.requests, found.requests)
            if not (same and np.array_equal(written.positions, found.positions)):
                raise ValueError(f"site {site}: activations and targets are not of the same tokens")
            targets = written.rows
        for index in np.unique(found.requests):
            mine = np.flatnonzero(found.requests == index)
            mine = mine[np.argsort(found.positions[mine], kind="stable")]
            self._producer.send(
                site,
                batch.requests[index],
                found.rows.with_values(found.rows.values[mine]),
                targets=None if targets is None else targets.with_values(targets.values[mine]),
                token_ids=None if found.ids is None else found.ids[mine],
                timestamp_ms=batch.timestamp_ms,
                headers=self._headers if batch.headers is None else {**self._headers, **batch.headers[index]},
            )
            self._count(rows=len(mine))

    def _count(self, *, requests: int = 0, rows: int = 0, dropped_rows: int = 0) -> None:
        with self._lock:
            counts = self._counts
            self._counts = CaptureStats(
                counts.requests + requests,
                counts.rows + rows,
                counts.dropped_rows + dropped_rows,
                counts.failed,
                counts.last_error,
            )

    def _count_failure(self, what: str) -> int:
        """Counts a failure; returns how many there were before."""
        with self._lock:
            counts = self._counts
            self._counts = CaptureStats(counts.requests, counts.rows, counts.dropped_rows, counts.failed + 1, what)
        return counts.failed

    def _failed(self, what: str) -> None:
        if self._count_failure(what) == 0:
            _LOG.warning("not captured: %s; such failures are counted in stats.failed and not logged again", what)


def as_mask(value: Any) -> Array | None:
    return None if value is None else tensor_of(value).values.astype(bool)
