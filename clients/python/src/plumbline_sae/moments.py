"""Second moments instead of rows: what a minute of a site comes to, added up where the activations are.

At d = 4,096 and 10,000 tokens a second a minute of rows has 4.9 GB in bfloat16; its second moment has 67 MB. The record
is described in the product's docs/reference/moment-records.md.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .coverage import Missing
from .hashes import record_hash, request_hash
from .panes import Pane
from .process import hold, left_behind
from .producer import Producer
from .rows import Kept, Rows
from .settings import Accumulation
from .tensors import encode, tensor_of
from .totals import most_totals, total_bytes

_LOG = logging.getLogger(__name__)
_HEADER_ALLOWANCE = 65_536

_ORIGIN = ("engine", "engine_version", "model_revision", "quantization", "adapter", "tags")
"""Headers whose values the service tells rows apart by."""

MOST_ORIGINS = 64
"""Origins of a pane whose rows are added up apart: no more are followed by the service."""

_Origin = tuple[tuple[str, str], ...]
_Key = tuple[str, int, _Origin]


def _origin(headers: Mapping[str, str] | None) -> _Origin:
    return tuple((name, headers[name]) for name in _ORIGIN if name in headers) if headers else ()


class MomentAccumulator:
    """Adds up the rows of sites and sends their moments, one record a site and pane. Takes the place of a `Producer`.

        moments = MomentAccumulator(producer, {"residual.5": Accumulation(pane_ms=60_000)})
        with capture(model, moments, {"residual.5": "blocks.5.hook_resid_post"}) as captured: ...

    Rows are numpy arrays, or torch tensors of any device: products are summed where the rows are, in float32 (float64
    rows: in float64), at most 128 at a time, and these sums are added in float64. A pane leaves when rows of a later
    one come, when its time is over, when the open panes together are too large, and at `close`. A process that is
    killed loses what it had open; each second it tells how many tokens that is, so that the window's coverage says it.
    Ranks that hold all columns of their own rows each have an accumulator of their own.

    Rows of another origin, such as another `tags` header, are added up apart, since a record has one set of headers.
    Where a pane has 64 origins, rows of further ones are added up without their tags, and counted.

    What is open when the process ends is sent then. A process that was forked from the one that made the accumulator
    drops what it is given, and says so: the open panes are the other process's to send.

    Size: 8 d² bytes a site, open pane and origin, `sample_rows` and 127 rows, and at most 2 MiB of totals. Thread-safe.

    Args:
        producer: where records go; its `message.max.bytes` and `max_buffered_bytes` must hold one.
        sites: how each site's rows are added up.
        max_bytes: bytes of open panes; beyond them the oldest leaves before its time.
        linger_ms: how long a pane whose time is over waits for more rows.
        headers: sent with every record.
    """

    def __init__(
        self,
        producer: Producer,
        sites: Mapping[str, Accumulation],
        *,
        max_bytes: int = 2 << 30,
        linger_ms: int = 1_000,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._producer = producer
        self._sites = dict(sites)
        self._max_bytes = max_bytes
        self._linger_ms = linger_ms
        self._headers = dict(headers or {})
        self._number = secrets.randbits(64)
        self._batches = 0
        self._sent = 0
        self._panes: dict[_Key, Pane] = {}
        self._widths: dict[str, tuple[int, int | None]] = {}
        self._timer_failures = 0
        self._without_tags = 0
        self._forked = False
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._timer = threading.Thread(target=self._tick, name="plumbline-moments", daemon=True)
        self._timer.start()
        hold(self)

    @property
    def timer_failures(self) -> int:
        """Returns how often the thread that sends panes by time could not do so; it tries again within a second."""
        return self._timer_failures

    @property
    def without_tags(self) -> int:
        """Returns how many batches were added up without their tags, since 64 others were there, or no room."""
        return self._without_tags

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
        """Adds one request's rows, or some of them; never raises.

        Args:
            site: one of the sites this accumulator was made with.
            request: the request's name.
            activations: [rows, width], numpy or torch, in a float type.
            targets: [rows, width written], for a transcoder: what is summed.
            token_ids: integers [rows]; needed where the mask names tokens.
            special: booleans [rows]: these rows are left out, and are not counted as masked.
            timestamp_ms: event time; default: now.
            headers: rows with other values of `engine`, `engine_version`, `model_revision`, `quantization`, `adapter`
                or `tags` are added up apart, in a record that has these headers; the rest is not used.
            tokens_served: tokens of the request that the server processed, where there are more than rows.
            cached: of these, tokens without a row because a prefix cache held them.
            patience: not used: rows that are added up need no room.

        Returns:
            False when the rows were refused: they do not fit those before them, or one is not finite. The rows before
            stay as they are. False, too, in a forked process, where they are dropped.
        """
        try:
            rows = Rows.of(activations, targets, token_ids, special)
            missing = Missing.of_request(tokens_served, rows.given, cached)
            names = {request_hash(request): request} if request else {}
            if not self._take(site, names, rows, timestamp_ms, headers):
                return False
            self._producer.count_missing(site, missing)
            return True
        except Exception as error:
            self._producer.count_refused(site, request, error)
            return False

    def send_step(
        self,
        site: str,
        requests: Sequence[str],
        index: Any,
        activations: Any,
        *,
        targets: Any = None,
        token_ids: Any = None,
        special: Any = None,
        timestamp_ms: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bool:
        """Adds the rows of several requests that a server computed in one step; never raises.

        They are one batch: products are of 128 rows, whosever they are. In a pane a request counts once, however many
        steps it has rows in.

            moments.send_step("residual.5", ["a", "b"], [0, 0, 0, 1], rows)  # three rows of a, one of b

        Args:
            site: one of the sites this accumulator was made with.
            requests: names of the requests.
            index: integers [rows]: which of the names each row is of.
            activations: [rows, width], numpy or torch, in a float type.
            targets: [rows, width written], for a transcoder: what is summed.
            token_ids: integers [rows]; needed where the mask names tokens.
            special: booleans [rows]: these rows are left out, and are not counted as masked.
            timestamp_ms: event time; default: now.
            headers: as for `send`; of all the requests.

        Returns:
            False when the rows were refused or dropped, all of them.
        """
        try:
            owners = tensor_of(index).values
            if owners.ndim != 1 or (len(owners) and not 0 <= owners.min() <= owners.max() < len(requests)):
                raise ValueError(f"index: expected numbers of {len(requests)} requests, one a row")
            hashes = np.array([request_hash(name) for name in requests], dtype=np.int64)
            rows = Rows.of(activations, targets, token_ids, special, hashes[owners])
            return self._take(site, dict(zip(hashes.tolist(), requests, strict=True)), rows, timestamp_ms, headers)
        except Exception as error:
            self._producer.count_refused(site, f"{len(requests)} requests of a step", error)
            return False

    def count_dropped(self, site: str, request: str, rows: int, reason: str) -> None:
        """Counts rows that somebody else gave up."""
        self._producer.count_dropped(site, request, rows, reason)

    def count_missing(self, site: str, missing: Missing) -> None:
        """Counts tokens that were served and have no row."""
        self._producer.count_missing(site, missing)

    def flush(self, timeout: float = 10.0) -> int:
        """Sends what is open, also of panes whose time is not over, and waits as `Producer.flush` does."""
        with self._lock:
            for key in [] if self._forked else sorted(self._panes, key=lambda known: known[1]):
                self._leave(key)
        return self._producer.flush(timeout)

    def close(self) -> None:
        """Sends what is open and ends the timer; the producer stays open."""
        self._closed.set()
        self._timer.join()
        self.flush()

    def after_fork(self) -> None:
        """Makes what a forked process cannot share; what is open is the other process's to send.

        The panes stay: to free what they hold on an accelerator is not for a forked process.
        """
        self._forked = True
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def at_exit(self, timeout: float) -> None:
        """Hands what is open to the producer, which stores what waits after this."""
        self.flush(0)

    def __enter__(self) -> MomentAccumulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(
        self,
        site: str,
        names: Mapping[int, str],
        rows: Rows,
        timestamp_ms: int | None,
        headers: Mapping[str, str] | None,
    ) -> bool:
        if self._forked:
            self.count_dropped(
                site, next(iter(names.values()), ""), rows.activations.shape[0], left_behind("accumulator")
            )
            return False
        event_time = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
        with self._lock:
            self._add(site, names, rows, event_time, _origin(headers))
        return True

    def _add(self, site: str, names: Mapping[int, str], rows: Rows, event_time: int, origin: _Origin) -> None:
        how = self._sites.get(site)
        if how is None:
            raise ValueError(f"is not among the sites that are added up, {sorted(self._sites)}")
        kept = Kept.of(rows, how.mask)
        self._require_widths(site, rows.widths)
        start = event_time - event_time % how.pane_ms
        here = (site, start, self._followed(site, start, origin, kept.width))
        pane = self._panes.get(here)
        if pane is None:
            self._require_room(kept.width, how, rows)
            pane = Pane(start, how, kept.width)
        try:
            pane.add(kept, names, record_hash(self._number, self._batches), event_time)
        finally:
            if pane.is_damaged and self._panes.pop(here, None) is not None:
                self._give_up(here, pane, "a batch could not be summed to its end")
        self._batches += 1
        self._widths[site] = rows.widths
        if here not in self._panes:
            self._panes[here] = pane
            for key in [key for key in self._panes if key[0] == site and key[1] < start]:
                self._leave(key)
        while len(self._panes) > 1 and sum(open_.bytes for open_ in self._panes.values()) > self._max_bytes:
            self._leave(min(self._panes, key=lambda key: key[1]))

    def _followed(self, site: str, start: int, origin: _Origin, width: int) -> _Origin:
        """Returns an origin without its tags beside as many others as are followed or fit: clients choose tags."""
        known = [key for key in self._panes if key[:2] == (site, start)]
        pooled = tuple(pair for pair in origin if pair[0] != "tags")
        if not known or (site, start, origin) in known or pooled == origin:
            return origin
        one = max(8 * width * (width + 1), *(self._panes[key].bytes for key in known))
        needed = sum(pane.bytes for pane in self._panes.values()) + 2 * one  # of this origin, and of those without tags
        if len(known) < MOST_ORIGINS and needed <= self._max_bytes:
            return origin
        self._without_tags += 1
        if self._without_tags == 1:
            _LOG.warning(
                "site %s: more than %d origins in one pane, or more than max_bytes = %d holds; rows of further ones are"
                " added up without their tags, which is counted in without_tags and not logged again",
                site,
                MOST_ORIGINS,
                self._max_bytes,
            )
        return pooled

    def _require_room(self, width: int, how: Accumulation, rows: Rows) -> None:
        size = (4 if how.f32 else 8) * (width * (width + 1) // 2 + width) + how.sample_rows * rows.row_bytes
        size += most_totals(width, how.request_totals) * total_bytes(width)
        self._producer.require_room(size + _HEADER_ALLOWANCE)

    def _require_widths(self, site: str, widths: tuple[int, int | None]) -> None:
        """Refuses rows that cannot be added to those before: a site's explainer reads one width and writes one."""
        before = self._widths.get(site, widths)
        for name, found, expected in zip(("rows", "targets"), widths, before, strict=True):
            if found != expected:
                raise ValueError(
                    f"{name} of {found} columns, those before had {expected}"
                    if found is not None and expected is not None
                    else f"{name} {'are missing' if found is None else 'came'}, rows before came"
                    f" {'with' if found is None else 'without'} {name}; the batch was not added"
                )

    def _leave(self, key: _Key) -> None:
        """Sends a pane; where that fails its rows are counted as dropped, and the other panes go on."""
        pane = self._panes.pop(key)
        told = {"tokens_announced": str(pane.announced)} if pane.announced else {}
        try:
            self._producer.send_value(
                key[0],
                encode(pane.tensors()),
                rows=pane.rows_read,
                key=f"{self._number:016x}",
                timestamp_ms=pane.newest,
                headers={**self._headers, **dict(key[2]), **told, "record_id": self._next_id()},
            )
        except Exception as error:
            self._give_up(key, pane, str(error))

    def _give_up(self, key: _Key, pane: Pane, why: str) -> None:
        reason = f"the pane of {pane.rows_read} rows from {key[1]} was lost: {why}"
        _LOG.warning("site %s: %s", key[0], reason, exc_info=True)
        self._producer.count_dropped(key[0], f"{self._number:016x}", pane.rows_read, reason)
        self._producer.count_missing(key[0], Missing(dropped=-pane.announced))

    def _announce(self, site: str, pane: Pane) -> None:
        """Tells of the rows that came since it was told last."""
        rows = pane.rows_read
        if rows > pane.announced and self._producer.send_word(
            site,
            rows - pane.announced,
            key=f"{self._number:016x}",
            timestamp_ms=pane.newest,
            record_id=self._next_id(),
        ):
            pane.announced = rows

    def _next_id(self) -> str:
        self._sent += 1
        return f"{self._number:016x}-{self._sent}"

    def _tick(self) -> None:
        while not self._closed.wait(min(1.0, self._linger_ms / 1000)):
            try:
                self._tell(int(time.time() * 1000))
            except Exception:
                self._timer_failures += 1
                if self._timer_failures == 1:
                    _LOG.exception("panes did not leave by time; tried again, counted in timer_failures")

    def _tell(self, now: int) -> None:
        """Sends panes whose time is over, and word of the others."""
        with self._lock:
            for key in [key for key, pane in self._panes.items() if pane.is_over(now, self._linger_ms)]:
                self._leave(key)
            for (site, _, _), pane in self._panes.items():
                self._announce(site, pane)
