"""Takes activations out of a torch model while it serves, and sends them from a thread.

The hook itself selects the rows of tokens that count and copies them; masks, encoding and Kafka are the thread's work.
Nothing that goes wrong in a hook reaches the model: it is counted, and the first time it is logged.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import logging
import queue
import threading
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import numpy as np
import torch

from .batches import Batch, Call, Known, Step
from .calls import Given, parameters_of
from .coverage import Missing
from .process import hold, left_behind
from .producer import PATIENCE, Sink
from .sites import Site, place_of, register
from .tensors import Array, tensor_of

_LOG = logging.getLogger(__name__)
_SAMPLE_STEPS = 1 << 32


@dataclass(frozen=True)
class CaptureStats:
    """What a capture has taken so far. A batch is counted when it ends: only then is it certain which rows stand.

    Attributes:
        requests: requests that were captured, after sampling.
        rows: rows that were captured, over all sites: the thread has handed them to the producer or will.
        dropped_rows: rows given up because too many waited for the thread, or were of one batch.
        failed: hooks and requests that could not be captured; `last_error` says why.
        without_batch: calls of the model outside of every batch; the capture takes nothing from them.
        last_error: the latest failure as a sentence, or None.
    """

    requests: int = 0
    rows: int = 0
    dropped_rows: int = 0
    failed: int = 0
    without_batch: int = 0
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
        max_waiting_bytes: bytes that one batch may have, and that may wait for the thread; beyond them requests are
            dropped and counted.
        special_ids: tokens whose rows are left out, such as `tokenizer.all_special_ids`. After the first of them that
            a `generate` made, nothing more is taken of the request.
        headers: sent with every record.

    Raises:
        ValueError: when the model has no such place, or has an encoder and a decoder.
    """
    if not 0.0 < sample <= 1.0:
        raise ValueError(f"sample = {sample}: expected a share above 0, at most 1")
    return Capture(model, producer, sites, sample, max_waiting_bytes, frozenset(special_ids), dict(headers or {}))


@dataclass
class _Passing:
    """A call of the model that is under way on a thread, from its first hook to its last."""

    batch: Batch
    given: Given
    call: Call | None
    """None while its tokens cannot be told: the first site says how many there are."""
    came: set[tuple[str, str]] = field(default_factory=set)
    """The places it has come by."""


@dataclass(frozen=True)
class _Waiting:
    """A batch that is whole, its bytes and rows, and the ends of its copies from the accelerator."""

    batch: Batch
    size: int
    rows: int
    copies: list[torch.cuda.Event]


class Capture:
    """A model whose sites are captured; made by `capture`.

    with capture(model, producer, {"residual.5": "blocks.5.hook_resid_post"}) as captured:
        with captured.batch(request_ids):
            model(**inputs)  # or model.generate(**inputs): its steps are joined per request

    A batch belongs to the context that opened it: an asyncio task, and what it starts with `asyncio.to_thread`, finds
    it; a plain thread and an executor do not, unless they run in `contextvars.copy_context()`. Batches of several tasks
    or threads do not meet each other. Of a call of the model outside of every batch nothing is taken: it is counted.

    What was captured and still waits when the process ends is stored then, within ten seconds. A process that was
    forked from the one that made the capture takes nothing and says so: the thread stayed behind.
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
        self._open: contextvars.ContextVar[Batch | None] = contextvars.ContextVar("plumbline_batch", default=None)
        self._open_count = 0
        self._here = threading.local()
        self._forked = False
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self._waiting = 0
        self._counts = CaptureStats()
        self._streams: dict[torch.device, torch.cuda.Stream] = {}
        self._queue: queue.SimpleQueue[_Waiting | threading.Event | None] = queue.SimpleQueue()
        self._handles: list[Any] = []
        self._pairs: set[str] = set()
        self._places: dict[tuple[str, str], str] = {}
        self._silent: dict[str, int] = {}
        try:
            self._hook(model, sites)
        except BaseException:
            self._unhook()
            raise
        self._thread = threading.Thread(target=self._work, name="plumbline-capture", daemon=True)
        self._thread.start()
        hold(self)

    def _hook(self, model: torch.nn.Module, sites: Mapping[str, Site | str]) -> None:
        self._parameters = parameters_of(model)
        if "decoder_input_ids" in self._parameters:
            raise ValueError(
                f"{type(model).__name__} has an encoder and a decoder, whose tokens differ; capture"
                " model.get_encoder() or model.get_decoder(), and name the places in it"
            )
        self._handles.append(model.register_forward_pre_hook(self._begin_call, with_kwargs=True))
        self._handles.append(model.register_forward_hook(self._end_call, always_call=True))
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

        Its hook did not run: the model leaves the module out, or TransformerLens has the hook switched off. Calls that
        fail, or that are refused as a whole, are not counted here.
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
        batch = self._batch_of([str(name) for name in request_ids], attention_mask, special_tokens_mask, input_ids)
        try:
            batch.timestamp_ms = timestamp_ms
            batch.headers = None if headers is None else [dict(headers[index]) for index in range(len(batch.requests))]
        except Exception as error:
            self._give_up(batch, error)
        token = self._open.set(batch)
        with self._lock:
            self._open_count += 1
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):  # left in another context, which finds the batch closed
                self._open.reset(token)
            self._leave(batch)

    def _batch_of(self, names: list[str], attention_mask: Any, special: Any, input_ids: Any) -> Batch:
        sampled = np.array([self._is_sampled(name) for name in names], dtype=bool)
        most = self._max_waiting_bytes
        batch = Batch(names, sampled, Known(), self._special_ids, outer=self._open.get(), max_bytes=most)
        try:
            ids = None if input_ids is None else tensor_of(input_ids).values.astype(np.int64)
            batch.known = Known(as_mask(attention_mask), as_mask(special), ids)
        except Exception as error:
            self._give_up(batch, error)
        return batch

    def _give_up(self, batch: Batch, error: Exception) -> None:
        batch.malformed = True
        self._failed(f"batch of {len(batch.requests)} requests: {error}")

    def _leave(self, batch: Batch) -> None:
        with self._lock:
            self._open_count -= 1
        try:
            if not self._forked:
                batch.close()
                self._note_silent(batch)
                if batch.steps:
                    self._enqueue(batch)
        except Exception as error:
            self._failed(f"a batch of {len(batch.requests)} requests: {error}")

    def _note_silent(self, batch: Batch) -> None:
        """Counts the sites whose place the batch's calls of the model did not come by."""
        missed = batch.missed(self._places)
        with self._lock:
            for site in {site for site, _ in missed}:
                self._silent[site] = self._silent.get(site, 0) + 1
        for site, tensor in missed:
            self._warn_of_site(
                site,
                f"the model was called and did not come by {self._places[site, tensor]}, the place of its {tensor};"
                " such batches are counted in captured.silent",
            )

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

    def after_fork(self) -> None:
        """Makes what a forked process cannot share; its hooks take nothing."""
        self._forked = True
        self._lock = threading.Lock()

    def at_exit(self, timeout: float) -> None:
        """Stores what waits when the process ends, and says what could not be stored."""
        if not self.drain(timeout):
            _LOG.warning(
                "the process ends and captured rows are lost: %d bytes waited for the thread longer than %.0f s;"
                " call remove() or flush() before the end",
                self._waiting,
                timeout,
            )

    def _current(self) -> Batch | None:
        """Returns the innermost open batch of this context."""
        batch = self._open.get()
        while batch is not None and batch.closed:
            batch = batch.outer
        return batch

    def _is_sampled(self, request: str) -> bool:
        return self._sample >= 1.0 or zlib.crc32(request.encode()) < self._sample * _SAMPLE_STEPS

    # --- in the forward pass ------------------------------------------------------------------------------------------

    def _begin_call(self, module: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Reads what the model is called with."""
        self._here.passing = None
        if _in_backward():  # gradient checkpointing computes again what was taken
            return
        batch = self._current()
        if batch is None:
            self._miss_call()
        elif not batch.malformed:
            try:
                if self._forked:
                    raise RuntimeError(left_behind("capture"))
                given = Given.of(self._parameters, inputs, kwargs)
                call = None if given.shape is None else batch.begin(given, given.shape)
                self._here.passing = _Passing(batch, given, call)
            except Exception as error:
                self._failed(f"a call of {len(batch.requests)} requests: {error}")
        self._here.running = True

    def _end_call(self, module: Any, inputs: Any, output: Any) -> None:
        passing: _Passing | None = getattr(self._here, "passing", None)
        self._here.passing, self._here.running = None, False
        if passing is not None and output is not None:  # None where the call failed
            passing.batch.end_call(passing.came)

    def _miss_call(self) -> None:
        """Counts a call of the model outside of every batch."""
        with self._lock:
            self._counts = replace(self._counts, without_batch=self._counts.without_batch + 1)
            elsewhere = self._open_count > 0
        if elsewhere:
            self._warn_of_call(
                "the model is called outside of every batch while one is open elsewhere: nothing is taken of the call."
                " A thread or an executor does not find the batch that started it: run it in the batch's context, as"
                " Thread(target=contextvars.copy_context().run, args=(model.generate,), kwargs=inputs)"
            )
        else:
            self._warn_of_call("the model is called outside of every batch: nothing is taken of the call")

    def _warn_of_call(self, what: str) -> None:
        self._warn_once(what, f"{what}; such calls are counted in stats.without_batch and not logged again")

    def _warn_of_site(self, site: str, what: str) -> None:
        self._warn_once(f"site {site}", f"site {site}: no rows are captured: {what}")

    def _warn_once(self, about: str, sentence: str) -> None:
        with self._lock:
            first = about not in self._warned
            self._warned.add(about)
        if first:
            _LOG.warning("%s", sentence)

    def _take(self, key: tuple[str, str], hidden: Any) -> None:
        """Copies the rows that count; the model may overwrite what it gave."""
        try:
            passing = self._come_by(key)
            if passing is None or passing.batch.refuses(key[0]):
                return
            with torch.no_grad():
                self._copy(passing, key, hidden)
        except Exception as error:
            self._failed(f"site {key[0]}: {error}")

    def _refuse(self, key: tuple[str, str], why: str) -> None:
        """Takes nothing of a call whose rows are not what the site's name means."""
        try:
            passing = self._come_by(key)
            if passing is not None:
                self._refuse_site(passing.batch, key[0], why)
        except Exception as error:
            self._failed(f"site {key[0]}: {error}")

    def _refuse_site(self, batch: Batch, site: str, why: str) -> None:
        batch.refuse(site)
        self._warn_of_site(site, why)
        self._count_failure(f"site {site}: {why}")

    def _come_by(self, key: tuple[str, str]) -> _Passing | None:
        """Returns the call that comes by a place, or None where nothing is taken of it."""
        passing: _Passing | None = getattr(self._here, "passing", None)
        if passing is None:
            self._require_a_call()
        else:
            passing.came.add(key)
        return passing

    def _require_a_call(self) -> None:
        """Raises where the module of a site from which nothing is taken runs by itself within a batch."""
        if getattr(self._here, "running", False) or _in_backward():
            return
        batch = self._current()
        if batch is not None and not batch.malformed:
            raise ValueError(
                "its module runs outside of a call of the captured model, so that its tokens cannot be told from"
                " padding; capture the model that is called"
            )

    def _copy(self, passing: _Passing, key: tuple[str, str], hidden: Any) -> None:
        if not isinstance(hidden, torch.Tensor):
            raise TypeError(
                f"the module gives {type(hidden).__name__}, expected a tensor or a tuple that begins with one"
            )
        call = passing.call
        if hidden.ndim == 2:
            flattened = call is not None and call.shape[0] * call.shape[1] == hidden.shape[0]
            hidden = hidden.reshape(*(call.shape if flattened and call else (1, -1)), hidden.shape[1])
        if hidden.ndim == 4:  # heads apart, as hook_z
            hidden = hidden.flatten(2)
        if hidden.ndim != 3:
            raise ValueError(f"the module gives {list(hidden.shape)}, expected [requests, tokens, width]")
        shape = (hidden.shape[0], hidden.shape[1])
        if call is None:
            call = passing.call = passing.batch.begin(passing.given, shape)
        if call.shape != shape:
            raise ValueError(
                f"the module gives {list(hidden.shape)}, the model is called with {list(call.shape)} tokens"
            )
        flat = hidden.detach().reshape(-1, hidden.shape[2])
        if passing.batch.too_large:
            rows = torch.empty((0, flat.shape[1]), dtype=flat.dtype)
        else:
            rows = flat.clone() if len(call.take) == len(flat) else flat.index_select(0, call.index_on(flat.device))
        if rows.is_cuda:
            rows = self._to_host(rows)
        if not passing.batch.add(key, Step(rows, call)):
            self._refuse_site(
                passing.batch,
                key[0],
                f"{self._places[key]} is called more than once in one call of the model, as where layers share it;"
                " no row was taken, since nothing tells which of them is meant",
            )

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
            size = sum(step.rows.nbytes for steps in batch.steps.values() for step in steps)
            with self._lock:
                fits = self._waiting == 0 or self._waiting + size <= self._max_waiting_bytes
                room = fits and not batch.too_large
                self._waiting += size if room else 0
            if not room:
                self._drop(batch)
                return
            events = []
            for stream in self._streams.values():
                event = torch.cuda.Event()
                event.record(stream)
                events.append(event)
            rows = batch.taken()
            self._count(requests=int(batch.sampled.sum()), rows=rows)
            self._queue.put(_Waiting(batch, size, rows, events))
        except Exception as error:
            self._failed(f"a batch of {len(batch.requests)} requests: {error}")

    def _drop(self, batch: Batch) -> None:
        reason = f"{self._max_waiting_bytes} bytes wait for the capture's thread already"
        if batch.too_large:
            reason = (
                f"a batch has more than max_waiting_bytes = {self._max_waiting_bytes} bytes of rows; give more, or"
                " capture fewer requests or sites at a time"
            )
        for site in self._sites_of(batch):
            rows = batch.count(site, sampled=True)
            self._count(dropped_rows=rows)
            self._producer.count_dropped(site, batch.requests[0], rows, reason)

    def _sites_of(self, batch: Batch) -> list[str]:
        """Returns the sites that gave rows, and counts their tokens that are not sampled."""
        sites = [site for site, tensor in batch.steps if tensor == "activations"]
        for site in sites:
            self._producer.count_missing(site, Missing(not_sampled=batch.count(site, sampled=False)))
        return sites

    # --- on the thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            handed = 0
            try:
                for event in item.copies:
                    event.synchronize()
                for rows in self._send(item.batch):
                    handed += rows
            except Exception as error:
                self._failed(f"a batch of {len(item.batch.requests)} requests: {error}")
            finally:
                self._count(rows=handed - item.rows)  # 0 where nothing failed
                with self._lock:
                    self._waiting -= item.size

    def _send(self, batch: Batch) -> Iterator[int]:
        """Hands a batch to the producer; yields the rows of each record."""
        # One time at all sites: a baseline of a model finds by it the requests that all of them have.
        event_time = int(time.time() * 1000) if batch.timestamp_ms is None else batch.timestamp_ms
        for site in self._sites_of(batch):
            yield from self._send_site(batch, site, event_time)

    def _send_site(self, batch: Batch, site: str, event_time: int) -> Iterator[int]:
        found = batch.joined((site, "activations"))
        targets = None
        if site in self._pairs:
            if (site, "targets") not in batch.steps:
                raise ValueError(f"site {site}: the module of the targets was not called")
            written = batch.joined((site, "targets"))
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
                timestamp_ms=event_time,
                headers=self._headers if batch.headers is None else {**self._headers, **batch.headers[index]},
                patience=PATIENCE,
            )
            yield len(mine)

    def _count(self, *, requests: int = 0, rows: int = 0, dropped_rows: int = 0) -> None:
        with self._lock:
            counts = self._counts
            self._counts = replace(
                counts,
                requests=counts.requests + requests,
                rows=counts.rows + rows,
                dropped_rows=counts.dropped_rows + dropped_rows,
            )

    def _count_failure(self, what: str) -> None:
        with self._lock:
            self._counts = replace(self._counts, failed=self._counts.failed + 1, last_error=what)

    def _failed(self, what: str) -> None:
        self._count_failure(what)
        self._warn_once(
            "failure", f"not captured: {what}; such failures are counted in stats.failed and not logged again"
        )


def as_mask(value: Any) -> Array | None:
    return None if value is None else tensor_of(value).values.astype(bool)


def _in_backward() -> bool:
    return int(torch._C._current_graph_task_id()) != -1
