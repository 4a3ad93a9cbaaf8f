"""Takes a step's rows on the worker's thread; joins and sends them on its own."""

from __future__ import annotations

import logging
import queue
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..decoders import Decoder
from ..process import hold
from ..tensors import Array, tensor_of
from .joining import Lost, Request, StepRows
from .outlets import Outlet
from .places import Place
from .snapshots import Snapshots
from .steps import Step, headers_of, read_step, resumed

LOG = logging.getLogger("vllm.plumbline")
"""vLLM sets up logging for its own names only, so the tap's is one of them."""

_SAMPLE_STEPS = 1 << 32
_CROWDED = 0.5
"""Share of the room beyond which every request that holds rows sends them."""


@dataclass(frozen=True)
class TapStats:
    """What a tap has done so far.

    Attributes:
        steps: steps that it was told of.
        seconds: time that it took of the worker's thread.
        rows: rows that were handed to the producer, over all sites.
        requests: requests that ended.
        waiting_bytes: bytes of rows that wait.
        failed: steps that could not be taken, joined or sent; `last_error` says why.
        last_error: the latest failure as a sentence, or None.
    """

    steps: int = 0
    seconds: float = 0.0
    rows: int = 0
    requests: int = 0
    waiting_bytes: int = 0
    failed: int = 0
    last_error: str | None = None


@dataclass(frozen=True)
class _New:
    name: str
    is_sampled: bool
    headers: dict[str, str]


@dataclass(frozen=True)
class _Taken:
    """The tokens of a step whose copies are under way."""

    requests: list[str]
    counts: list[int]
    drafts: list[int]
    sampled: list[bool]
    names: list[Any]
    """Copies of the tokens, their positions and the bounds of requests: always on the host."""
    rows: Mapping[Place, Any] | None
    """None where there was no room, or they could not be taken."""
    size: int
    is_selected: bool
    """Whether the rows are those of sampled requests alone."""
    ready: Callable[[], None]


@dataclass(frozen=True)
class _Told:
    """What a step says of requests, and its rows."""

    ended: list[str]
    resumed: list[str]
    new: list[_New]
    taken: _Taken | None


class Tap:
    """Takes the rows of a runner's steps.

    `step` costs the worker's thread one copy on the device and some microseconds; it never raises. What waits is
    bounded: beyond `max_waiting_bytes` the rows of a step are given up and counted. One thread calls `step`.

    Args:
        runner: vLLM's model runner.
        outlet: where rows go.
        aux: the places of the auxiliary outputs, in their order.
        buffers: the buffers that taps fill, by place.
        sample: share of requests that are captured.
        max_waiting_bytes: bytes of rows that may wait.
    """

    def __init__(
        self,
        runner: Any,
        outlet: Outlet,
        aux: tuple[Place, ...],
        buffers: Mapping[Place, Any],
        *,
        sample: float = 1.0,
        max_waiting_bytes: int = 256 << 20,
    ) -> None:
        self._runner = runner
        self._outlet = outlet
        self._aux = aux
        self._buffers = dict(buffers)
        self._sample = sample
        self._max_waiting_bytes = max_waiting_bytes
        self._snapshots = Snapshots()
        self._sampled: dict[str, bool] = {}
        self._live: dict[str, Request] = {}
        self._lock = threading.Lock()
        self._counts = TapStats()
        self._held = 0
        """Bytes that requests hold: those that wait, without those in the queue."""
        self._closed = False
        self._queue: queue.SimpleQueue[_Told | Decoder | threading.Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="plumbline-tap", daemon=True)
        self._thread.start()
        hold(self)

    @property
    def stats(self) -> TapStats:
        """Returns what was done so far."""
        with self._lock:
            return self._counts

    # --- on the worker's thread -----------------------------------------------------------------------------------

    def step(self, scheduled: Any, tags: str = "") -> None:
        """Takes the step that the runner has just computed; never raises.

        Args:
            scheduled: vLLM's `SchedulerOutput`.
            tags: tags of the requests that begin with this step.
        """
        if self._closed:
            return
        began = time.perf_counter()
        try:
            self._tell(scheduled, tags)
        except Exception as error:
            self._failed(error)
        with self._lock:
            counts = self._counts
            seconds = counts.seconds + time.perf_counter() - began
            self._counts = replace(counts, steps=counts.steps + 1, seconds=seconds)

    def swap(self, decoder: Decoder) -> None:
        """Reads the steps that follow with another decoder."""
        if not self._closed:
            self._queue.put(decoder)

    def _tell(self, scheduled: Any, tags: str) -> None:
        ended = list(scheduled.finished_req_ids)
        for name in ended:
            self._sampled.pop(name, None)
        new = []
        for given in scheduled.scheduled_new_reqs:
            if given.req_id not in self._sampled:
                self._sampled[given.req_id] = self._is_sampled(given.req_id)
                headers = headers_of(given)
                if tags:
                    headers["tags"] = f"{headers['tags']},{tags}" if "tags" in headers else tags
                new.append(_New(given.req_id, self._sampled[given.req_id], headers))
        again = [name for name in resumed(scheduled) if name in self._sampled]
        taken = None
        try:
            step = read_step(self._runner, scheduled)
            taken = None if step is None else self._take(step)
        except Exception as error:
            self._failed(error)
        if ended or new or again or taken is not None:
            self._queue.put(_Told(ended, again, new, taken))

    def _is_sampled(self, request: str) -> bool:
        return self._sample >= 1.0 or zlib.crc32(request.encode()) < self._sample * _SAMPLE_STEPS

    def _take(self, step: Step) -> _Taken:
        sampled = [self._sampled.get(name, False) for name in step.requests]
        chosen = None
        if not all(sampled) and step.bounds is None:
            chosen = np.flatnonzero(np.repeat(sampled, step.counts))
        numbers = [step.ids, step.positions, *([] if step.bounds is None else [step.bounds])]
        names, named = self._snapshots.take(numbers, None, to_host=True)
        rows, ready, size = None, named, 0
        try:
            given = self._rows(step)
            kept = step.total if chosen is None else len(chosen)
            wanted = sum(values.nbytes for values in given.values()) * kept // step.total
            if kept > 0 and self._reserve(wanted):
                size = wanted
                on_host = not self._outlet.keeps_on_device
                copies, ready = self._snapshots.take(list(given.values()), chosen, to_host=on_host)
                rows = dict(zip(given, copies, strict=True))
        except Exception as error:  # no memory on the device, as a rule: the tokens are counted as dropped
            self._release(size)
            size = 0
            self._failed(error)

        def wait() -> None:
            named()
            ready()

        return _Taken(step.requests, step.counts, step.drafts, sampled, names, rows, size, chosen is not None, wait)

    def _rows(self, step: Step) -> dict[Place, Any]:
        aux = step.aux if self._aux else []  # with no layer asked for they are a speculator's
        if len(aux) != len(self._aux):
            raise ValueError(f"the model gave {len(aux)} auxiliary outputs, expected {len(self._aux)}")
        found = dict(zip(self._aux, aux, strict=True)) | self._buffers
        for place, values in found.items():
            if len(values) < step.total:
                raise ValueError(f"{place} has {len(values)} rows, the step {step.total} tokens")
        return {place: values[: step.total] for place, values in found.items()}

    def _reserve(self, size: int) -> bool:
        with self._lock:
            waiting = self._counts.waiting_bytes
            has_room = waiting == 0 or waiting + size <= self._max_waiting_bytes
            if has_room:
                self._counts = replace(self._counts, waiting_bytes=waiting + size)
        return has_room

    def _release(self, size: int) -> None:
        with self._lock:
            self._counts = replace(self._counts, waiting_bytes=self._counts.waiting_bytes - size)

    def _failed(self, error: Exception) -> None:
        with self._lock:
            first = self._counts.failed == 0
            self._counts = replace(self._counts, failed=self._counts.failed + 1, last_error=str(error))
        if first:
            LOG.warning("rows are not captured; such failures are counted and not logged again", exc_info=error)

    # --- on the tap's thread --------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (told := self._queue.get()) is not None:
            try:
                with self._snapshots.stream():
                    if isinstance(told, threading.Event):
                        told.set()
                    elif isinstance(told, Decoder):
                        self._outlet.swap(told)
                    else:
                        self._join(told)
            except Exception as error:
                self._failed(error)
        self._settle(list(self._live.values()), end=True)

    def _join(self, told: _Told) -> None:
        ended = [self._live.pop(name) for name in told.ended if name in self._live]
        for new in told.new:
            self._live[new.name] = Request(new.name, new.is_sampled, new.headers)
        for name in told.resumed:
            if name in self._live:
                self._free(self._live[name].resume())
        self._settle(ended, end=True)
        if told.taken is not None:
            self._add(told.taken)
        least = 1 if self._held > _CROWDED * self._max_waiting_bytes else self._outlet.part_rows
        self._settle([request for request in self._live.values() if request.waiting >= least], end=False)

    def _add(self, taken: _Taken) -> None:
        step = None
        try:
            taken.ready()
            ids, positions, *bounds = [tensor_of(values).values for values in taken.names]
            ends = np.cumsum(taken.counts) if not bounds else bounds[0][1:]
            step = self._step_rows(taken, ids)
            begin = row = 0
            for name, planned, drafts, sampled, end in zip(
                taken.requests, taken.counts, taken.drafts, taken.sampled, ends.tolist(), strict=True
            ):
                count = end - begin
                request = self._live.get(name)
                if request is not None and count > 0:
                    source = Lost.NOT_SAMPLED if not sampled else Lost.DROPPED if step is None else step
                    guessed = max(0, drafts - (planned - count))
                    request.add(int(positions[begin]), count, guessed, source, row)
                row += count if sampled or not taken.is_selected else 0
                begin = end
        finally:
            if step is None:
                self._release(taken.size)
            elif step.users == 0:
                self._free(step.size)

    def _step_rows(self, taken: _Taken, ids: Array) -> StepRows | None:
        """Returns a step's rows, or None where there are none, or they could not be read."""
        if taken.rows is None:
            return None
        chosen = np.flatnonzero(np.repeat(taken.sampled, taken.counts)) if taken.is_selected else slice(None)
        try:
            step = StepRows(self._outlet.hold(taken.rows), ids[chosen].astype(np.int64), taken.size)
        except Exception as error:
            self._failed(error)
            return None
        self._held += step.size
        return step

    def _settle(self, requests: list[Request], *, end: bool) -> None:
        """Sends what stands of some requests, and frees it; a failure is counted, so that what follows is joined."""
        settled = [(request, request.settle()) for request in requests]
        freed = sum(found.freed for _, found in settled)
        rows = 0
        try:
            rows = self._outlet.send(settled) if settled else 0
        except Exception as error:
            self._failed(error)
        with self._lock:
            counts = self._counts
            ended = len(requests) if end else 0
            self._counts = replace(counts, rows=counts.rows + rows, requests=counts.requests + ended)
        self._free(freed + (sum(request.end() for request in requests) if end else 0))

    def _free(self, size: int) -> None:
        self._held -= size
        self._release(size)

    # --- at the end -----------------------------------------------------------------------------------------------

    def drain(self, timeout: float = 10.0) -> bool:
        """Waits until the thread has joined every step that came; False when it has not within the timeout."""
        mark = threading.Event()
        self._queue.put(mark)
        return mark.wait(timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Sends what stands of every request, waits until it is stored, and takes nothing more.

        Waits for the thread and for the broker, `timeout` seconds each at most.
        """
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join(timeout)
        left = self._outlet.flush(timeout)
        stats = self.stats
        LOG.info(
            "plumbline: %d steps, %.0f us a step on the worker's thread, %d requests, %d rows, %d failed, %d records"
            " left; %s",
            stats.steps,
            1e6 * stats.seconds / max(1, stats.steps),
            stats.requests,
            stats.rows,
            stats.failed,
            left,
            self._outlet.summary,
        )

    def after_fork(self) -> None:
        """Ends the tap in a forked process, which has none of its threads."""
        self._closed = True
        self._lock = threading.Lock()

    def at_exit(self, timeout: float) -> None:
        """Sends what waits when the process ends."""
        self.close(timeout / 2)
