"""Sends activations: one request of one site at a time, without ever holding the model server up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Protocol

import confluent_kafka
import numpy as np

from .coverage import Missing
from .process import hold, left_behind
from .tensors import FLOATS, Array, Tensor, encode, encoded_bytes, tensor_of

_LOG = logging.getLogger(__name__)

_DEFAULTS = {
    "acks": "all",
    "enable.idempotence": True,  # a retry sends nothing twice
    "compression.type": "zstd",
    "linger.ms": 50,
    "message.timeout.ms": 60_000,
}
_MESSAGE_MAX_BYTES = 1_000_000
"""The Kafka client's own default of message.max.bytes."""

_HEADER_ALLOWANCE = 4_096
"""Bytes of a record that are neither rows nor token ids: safetensors' header where it is shorter, key and headers."""


PATIENCE = 10.0
"""Seconds that a thread which can wait does so for a broker that confirms nothing."""

_NONE = Missing()

_LEFT_BEHIND: list[Any] = []
"""Kafka clients of the process that this one was forked from: to end one would wait for threads that are not here."""


@dataclass(frozen=True)
class Stats:
    """What became of the rows handed over so far.

    Attributes:
        sent: records handed to the Kafka client.
        delivered: records that the broker confirmed.
        rows: rows in the delivered records.
        bytes: bytes of the delivered records' values.
        dropped_rows: rows given up because the buffer was full, and rows that a capture gave up.
        failed_rows: rows in records that the broker did not take.
        refused: calls with something that is no activations; `last_error` says what.
        buffered_bytes: bytes that wait for the broker.
        last_error: the latest sentence about something that was not stored, or None.
    """

    sent: int = 0
    delivered: int = 0
    rows: int = 0
    bytes: int = 0
    dropped_rows: int = 0
    failed_rows: int = 0
    refused: int = 0
    buffered_bytes: int = 0
    last_error: str | None = None


@dataclass(frozen=True)
class Dropped:
    """Rows that were not stored.

    Attributes:
        site: the site they are of.
        request: their request.
        rows: how many.
        reason: why, as a sentence.
    """

    site: str
    request: str
    rows: int
    reason: str


class Sink(Protocol):
    """Something that takes the rows of requests: a `Producer`, or a `MomentAccumulator` that adds them up."""

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
        """Takes one request's rows; False when some were not taken. May wait, where `patience` is above 0."""

    def count_dropped(self, site: str, request: str, rows: int, reason: str) -> None:
        """Counts rows that somebody else gave up."""

    def count_missing(self, site: str, missing: Missing) -> None:
        """Counts tokens that were served and have no row."""

    def flush(self, timeout: float = 10.0) -> int:
        """Waits until everything is stored; returns how many records still wait."""


class Producer:
    """Sends the rows of requests to Plumbline.

    `send` never waits and never raises: a request that finds no room in the buffer is dropped as a whole and counted,
    and the next record of the site says in its headers how many tokens were served and why rows are missing.
    Thread-safe.

    What still waits when the process ends is stored then, within ten seconds; the log says what could not be. In a
    process that was forked from the one that made the producer every request is dropped: make it behind the fork.

        with Producer({"bootstrap.servers": "localhost:9092"}) as producer:
            producer.send("blocks.5.hook_resid_post", "request-17", hidden_states)

    Args:
        config: configuration of `confluent_kafka.Producer`, TLS and SASL included; it wins over this class's defaults.
        topic: where activations go.
        max_buffered_bytes: bytes that may wait for the broker; beyond them rows are dropped.
        max_record_bytes: a longer request becomes several records, with one and the same `request`.
        on_drop: called with every `Dropped`, on the thread that noticed; what it raises is logged.
        headers: sent with every record, such as `engine`, `engine_version`, `model_revision`, `tags`.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str = "activations",
        *,
        max_buffered_bytes: int = 64 << 20,
        max_record_bytes: int = 900_000,
        on_drop: Callable[[Dropped], None] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._producer: Any = confluent_kafka.Producer({**_DEFAULTS, **config})
        self._largest_message = int(config.get("message.max.bytes", _MESSAGE_MAX_BYTES))
        self._topic = topic
        self._max_buffered_bytes = max_buffered_bytes
        self._max_record_bytes = max_record_bytes
        self._on_drop = on_drop
        self._headers = dict(headers or {})
        self._lock = threading.Lock()
        self._stats = Stats()
        self._missing: dict[str, Missing] = {}
        self._stalled_after = -1
        hold(self)

    @property
    def topic(self) -> str:
        """Returns the topic that rows are sent to."""
        return self._topic

    @property
    def stats(self) -> Stats:
        """Returns what became of the rows so far."""
        self._producer.poll(0)
        with self._lock:
            return self._stats

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
        reconstructions: Any = None,
        codes: tuple[Any, Any] | None = None,
    ) -> bool:
        """Sends one request's rows, or some of them: rows with the same `request` are kept together.

        Args:
            site: the site's name in plumbline.yaml.
            request: the request's name.
            activations: [tokens, width] of float64, float32, float16 or bfloat16, numpy or torch; sent as they are. For
                a site with several targets a mapping, from each layer that is read to its rows.
            targets: [tokens, width written], for a transcoder; a mapping from each layer that is written.
            token_ids: integers [tokens]; the site's `mask: {token_ids: [...]}` then decides what is left out.
            special: booleans [tokens], as a tokenizer's `special_tokens_mask`: these rows are left out here.
            timestamp_ms: event time; default: now.
            headers: further headers of these records.
            tokens_served: tokens of the request that the server processed, where there are more than rows.
            cached: of these, tokens without a row because a prefix cache held them.
            patience: seconds to wait for room while the broker confirms nothing, for threads that can wait: a request
                larger than the buffer then leaves piece by piece. Once a wait was in vain none follows until the broker
                confirms a record.
            reconstructions: [tokens, width], for a site with `explainer: none`: what the explainer makes of the rows.
            codes: for such a site, the features and the values of each row's largest codes, both [tokens, m]; a feature
                of -1 is none.

        Returns:
            False when rows were dropped or refused, which `stats` counts; True also where there was no row to send.
        """
        try:
            tensors = request_tensors(activations, targets, token_ids, special, reconstructions, codes)
            self.count_missing(site, Missing.of_request(tokens_served, rows_given(activations), cached))
        except Exception as error:
            self.count_refused(site, request, error)
            return False
        event_time = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
        complete = True
        header = encoded_bytes(tensors) - _size_of(tensors)
        parts = list(_parts(tensors, self._max_record_bytes - max(_HEADER_ALLOWANCE, header)))
        held = [encoded_bytes(part) for part in parts] if len(parts) > 1 and patience <= 0 else [0]
        if not self._reserve(sum(held)):
            reason = (
                f"{sum(held)} bytes of one request find no room: max_buffered_bytes of the producer is"
                f" {self._max_buffered_bytes}, and {self._stats.buffered_bytes} of them wait for the broker already;"
                f" no row of the request was sent; write max_buffered_bytes={sum(held)} or more"
            )
            self.count_dropped(site, request, rows_of(tensors), reason)
            return False
        for number, part in enumerate(parts):
            if patience > 0:
                self._wait_for_room(encoded_bytes(part), patience)
            named = dict(headers or {})
            if "record_id" in named and len(parts) > 1:  # each part is to count once, not one of them
                named["record_id"] += f".{number}"
            complete &= self._produce(site, request, part, event_time, named, held[number] if any(held) else 0)
        self._producer.poll(0)  # lets delivery reports run; never waits
        return complete

    def send_value(
        self,
        site: str,
        value: bytes,
        *,
        rows: int,
        key: str,
        timestamp_ms: int,
        headers: Mapping[str, str],
    ) -> bool:
        """Sends a record that is encoded already, counted like any other; False when it was dropped."""
        accepted = self._hand_over(site, key, value, rows, timestamp_ms, {**self._headers, **headers, "site": site})
        self._producer.poll(0)
        return accepted

    def send_word(self, site: str, tokens: int, *, key: str, timestamp_ms: int, record_id: str) -> bool:
        """Tells of tokens that were served and whose rows come later; False when it could not be told."""
        headers = {**self._headers, "site": site, "record_id": record_id}
        accepted = self._hand_over(site, key, None, 0, timestamp_ms, headers, tokens)
        self._producer.poll(0)
        return accepted

    def count_dropped(self, site: str, request: str, rows: int, reason: str) -> None:
        """Counts rows that somebody else gave up, such as a capture whose queue was full."""
        with self._lock:
            self._miss(site, Missing(dropped=rows))
            first = self._stats.dropped_rows == 0
            self._stats = replace(self._stats, dropped_rows=self._stats.dropped_rows + rows, last_error=reason)
        if first:
            _LOG.warning(
                "site %s, request %s: %d rows dropped: %s; such rows are counted in stats.dropped_rows and not logged"
                " again",
                site,
                request,
                rows,
                reason,
            )
        self._tell(Dropped(site, request, rows, reason))

    def count_missing(self, site: str, missing: Missing) -> None:
        """Counts tokens that were served and have no row; the next record of the site tells of them."""
        with self._lock:
            self._miss(site, missing)

    def _miss(self, site: str, missing: Missing) -> None:
        if missing != _NONE:
            self._missing[site] = self._missing.get(site, _NONE) + missing

    def count_refused(self, site: str, request: str, error: Exception) -> None:
        """Counts a request whose rows could not be used; the first one is logged."""
        reason = f"site {site}, request {request}: {error}"
        with self._lock:
            first = self._stats.refused == 0
            self._stats = replace(self._stats, refused=self._stats.refused + 1, last_error=reason)
        if first:
            _LOG.warning("%s; such requests are counted in stats.refused and not logged again", reason)

    def has_room(self, size: int) -> bool:
        """Returns whether `size` bytes would find room; true of an empty buffer, whatever the size."""
        with self._lock:
            buffered = self._stats.buffered_bytes
        return buffered == 0 or buffered + size + _HEADER_ALLOWANCE <= self._max_buffered_bytes

    def require_room(self, size: int) -> None:
        """Checks that a record of `size` bytes could be sent at all.

        Raises:
            ValueError: says what to write into the configuration.
        """
        if size > self._largest_message:
            raise ValueError(
                f"a record of {size} bytes: message.max.bytes of the producer is {self._largest_message}; write"
                f" 'message.max.bytes': {size}, and max.message.bytes of topic {self._topic} as high"
            )
        if size > self._max_buffered_bytes:
            raise ValueError(
                f"a record of {size} bytes: max_buffered_bytes of the producer is {self._max_buffered_bytes};"
                f" write at least {size}"
            )

    def flush(self, timeout: float = 10.0) -> int:
        """Waits until everything is stored, at most `timeout` seconds; returns how many records still wait."""
        return int(self._producer.flush(timeout))

    def after_fork(self) -> None:
        """Makes what a forked process cannot share; what waits for the broker is the other process's to send."""
        _LEFT_BEHIND.append(self._producer)
        self._producer = _Elsewhere()
        self._lock = threading.Lock()
        self._stats = Stats()
        self._missing = {}

    def at_exit(self, timeout: float) -> None:
        """Stores what waits when the process ends, and says what could not be stored."""
        left = self.flush(timeout)
        if left:
            _LOG.warning(
                "the process ends and %d records for topic %s are lost: the broker did not take them within %.0f s;"
                " last error: %s",
                left,
                self._topic,
                timeout,
                self._stats.last_error,
            )

    def _wait_for_room(self, size: int, patience: float) -> None:
        """Waits for `size` bytes, as long as the broker confirms a record every `patience` seconds."""
        confirmed = self.stats.delivered
        end = time.monotonic() + patience
        while not self.has_room(size):
            delivered = self.stats.delivered
            if delivered == self._stalled_after:
                return
            if delivered > confirmed:
                confirmed, end = delivered, time.monotonic() + patience
            elif time.monotonic() >= end:
                self._stalled_after = delivered
                return
            self._producer.poll(min(0.1, patience))

    def _reserve(self, size: int) -> bool:
        """Keeps room for a request of several records, so that all of them find some or none does."""
        with self._lock:
            room = size == 0 or self._stats.buffered_bytes + size <= self._max_buffered_bytes
            if room:
                self._stats = replace(self._stats, buffered_bytes=self._stats.buffered_bytes + size)
        return room

    def __enter__(self) -> Producer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()

    def _produce(
        self,
        site: str,
        request: str,
        tensors: dict[str, Tensor],
        event_time: int,
        headers: Mapping[str, str],
        reserved: int,
    ) -> bool:
        named = {**self._headers, **headers, "site": site, "request": request}
        return self._hand_over(site, request, encode(tensors), rows_of(tensors), event_time, named, reserved=reserved)

    def _hand_over(
        self,
        site: str,
        key: str,
        value: bytes | None,
        rows: int,
        event_time: int,
        headers: Mapping[str, str],
        word: int = 0,
        reserved: int = 0,
    ) -> bool:
        """Hands a record over: rows, or without a value the word of so many tokens.

        Args:
            reserved: bytes that are counted as buffered already: those of a request of several records.
        """
        request = headers.get("request", key)
        told = int(headers.get("tokens_announced", 0))
        size = 0 if value is None else len(value)
        with self._lock:
            room = self._stats.buffered_bytes - reserved + size <= self._max_buffered_bytes
            carried = self._missing.pop(site, _NONE) if room else _NONE
            buffered = self._stats.buffered_bytes - reserved + (size if room else 0)
            self._stats = replace(self._stats, buffered_bytes=buffered)
        if not room:
            self._give_up(site, request, rows, told, f"{self._max_buffered_bytes} bytes wait for the broker already")
            return False

        def report(error: Any, message: Any) -> None:
            self._delivered(error, site, request, rows, size, carried + Missing(dropped=rows - told))

        named = {**headers, **carried.headers(rows + word)}
        try:
            self._producer.produce(
                self._topic, value=value, key=key, headers=named, timestamp=event_time, on_delivery=report
            )
        except Exception as error:  # BufferError: the client's own queue is full; KafkaException: the record is refused
            with self._lock:
                self._miss(site, carried)
                self._stats = replace(self._stats, buffered_bytes=self._stats.buffered_bytes - size)
            self._give_up(site, request, rows, told, str(error))
            return False
        with self._lock:
            self._stats = replace(self._stats, sent=self._stats.sent + 1)
        return True

    def _give_up(self, site: str, request: str, rows: int, told: int, reason: str) -> None:
        """Counts rows as dropped; the service already knows that `told` of them were served."""
        if rows:
            self.count_dropped(site, request, rows, reason)
            self.count_missing(site, Missing(dropped=-told))

    def _delivered(self, error: Any, site: str, request: str, rows: int, size: int, missing: Missing) -> None:
        with self._lock:
            stats = replace(self._stats, buffered_bytes=self._stats.buffered_bytes - size)
            if error is None:
                self._stats = replace(
                    stats, delivered=stats.delivered + 1, rows=stats.rows + rows, bytes=stats.bytes + size
                )
                return
            self._miss(site, missing)
            reason = f"not stored on {self._topic}: {error}"
            first = stats.failed_rows == 0
            self._stats = replace(stats, failed_rows=stats.failed_rows + rows, last_error=reason)
        if first:
            _LOG.warning("%s; such records are counted in stats.failed_rows and not logged again", reason)
        if rows:
            self._tell(Dropped(site, request, rows, reason))

    def _tell(self, dropped: Dropped) -> None:
        if self._on_drop is None:
            return
        try:
            self._on_drop(dropped)
        except Exception:
            _LOG.exception("on_drop failed")


class _Elsewhere:
    """Stands for the Kafka client in a forked process, which has none of its threads."""

    def produce(self, topic: str, **record: Any) -> None:
        raise RuntimeError(left_behind("producer"))

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        return 0


def request_tensors(
    activations: Any,
    targets: Any,
    token_ids: Any,
    special: Any,
    reconstructions: Any = None,
    codes: tuple[Any, Any] | None = None,
) -> dict[str, Tensor]:
    """Returns the tensors of a request's record, without its special rows.

    Raises:
        ValueError: when they do not fit each other.
    """
    tensors = _of_layers("activations", activations)
    for name, rows in tensors.items():
        if len(rows.shape) != 2 or rows.dtype not in FLOATS or rows.shape[1] == 0:
            raise ValueError(f"{name} are {rows.dtype} {list(rows.shape)}, expected floating point [tokens, width]")
    count = rows_of(tensors)
    if targets is not None:
        for name, rows in _of_layers("targets", targets).items():
            if len(rows.shape) != 2 or rows.dtype not in FLOATS:
                raise ValueError(f"{name} are {list(rows.shape)}, expected [tokens, width]")
            tensors[name] = rows
    if reconstructions is not None:
        tensors["reconstructions"] = tensor_of(reconstructions)
        written = tensors.get("targets", tensors.get("activations"))
        if written is None or tensors["reconstructions"].shape != written.shape:
            raise ValueError(f"reconstructions are {list(tensors['reconstructions'].shape)}, not as what they are of")
    if codes is not None:
        tensors["code_indices"], tensors["code_values"] = tensor_of(codes[0]), tensor_of(codes[1])
        if len(tensors["code_indices"].shape) != 2 or tensors["code_indices"].shape != tensors["code_values"].shape:
            raise ValueError("codes: expected features and values, both [tokens, m]")
    if token_ids is not None:
        ids = tensor_of(token_ids).values
        tensors["token_ids"] = Tensor("I64", ids.astype("<i8"))
    keep = None if special is None else ~tensor_of(special).values.astype(bool)
    for name, found in [*((name, tensor.values) for name, tensor in tensors.items()), ("special", keep)]:
        if found is not None and len(found) != count:
            raise ValueError(f"{name} has {len(found)} entries, the activations {count} rows")
    for name in ("token_ids",):
        if name in tensors and tensors[name].values.ndim != 1:
            raise ValueError(f"{name} is {list(tensors[name].shape)}, expected [tokens]")
    if keep is None or keep.all():
        return tensors
    return {name: tensor.with_values(tensor.values[keep]) for name, tensor in tensors.items()}


def rows_given(activations: Any) -> int:
    """Returns how many rows a request has, special ones among them; of several layers, that of the first."""
    first = next(iter(activations.values()), ()) if isinstance(activations, Mapping) else activations
    return len(tensor_of(first).values)


def rows_of(tensors: Mapping[str, Tensor]) -> int:
    """Returns the rows of a record, whose first tensor is of activations."""
    return next(iter(tensors.values())).shape[0]


def _of_layers(name: str, given: Any) -> dict[str, Tensor]:
    """Returns the tensor of a record by its name, or those of several layers by theirs: `targets.3`."""
    if not isinstance(given, Mapping):
        return {name: tensor_of(given)}
    if not given:
        raise ValueError(f"{name} of no layer, expected a mapping from each layer to its rows")
    for layer in given:
        if isinstance(layer, bool) or not isinstance(layer, int) or layer < 0:
            raise ValueError(f"{name} of layer {layer!r}, expected whole numbers from 0")
    return {f"{name}.{layer}": tensor_of(given[layer]) for layer in sorted(given)}


def _parts(tensors: dict[str, Tensor], most: int) -> Iterator[dict[str, Tensor]]:
    """Yields the tensors in pieces of at most `most` bytes, and of at least one row; none where there is no row."""
    rows = rows_of(tensors)
    row_bytes = sum(_row_bytes(tensor.values) for tensor in tensors.values())
    step = max(1, most // row_bytes)
    for first in range(0, rows, step):
        if rows <= step:
            yield tensors
        else:
            yield {name: tensor.with_values(tensor.values[first : first + step]) for name, tensor in tensors.items()}


def _size_of(tensors: Mapping[str, Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors.values())


def _row_bytes(values: Array) -> int:
    return int(values.itemsize * np.prod(values.shape[1:], dtype=np.int64))
