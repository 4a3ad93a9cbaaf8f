"""The requests that one call of a model, or one `generate`, serves: which of their positions are taken."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from .calls import Given, cached_tokens, is_one_object, tokens_in
from .tensors import Array, Tensor, tensor_of


@dataclass(eq=False)
class Call:
    """One call of the model within a batch: which of its positions are taken."""

    start: int
    """The position of its first token."""
    until: int
    """The position before which its rows stand: a later call may have replaced what follows."""
    made_from: int
    """The position of the first token that the model made itself."""
    keep: Array
    """Whether each of [requests, tokens] is a token that counts, sampled or not."""
    take: Array
    """Indices into the call's [requests x tokens] rows."""
    called: Array | None
    """The tokens that the model was called with."""
    ids: Array | None
    """The tokens to send, where they are known."""
    on_device: dict[torch.device, torch.Tensor] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Returns the numbers of requests and tokens."""
        return (self.keep.shape[0], self.keep.shape[1])

    def index_on(self, device: torch.device) -> torch.Tensor:
        """Returns the indices where the hidden states are."""
        if device not in self.on_device:
            index = torch.from_numpy(self.take)
            self.on_device[device] = index.to(device, non_blocking=True) if device.type != "cpu" else index
        return self.on_device[device]


@dataclass
class Step:
    """The rows that one call of the model gave one place."""

    rows: torch.Tensor
    call: Call


def _bytes_of(steps: Sequence[Step]) -> int:
    return sum(step.rows.nbytes for step in steps)


@dataclass(frozen=True)
class Known:
    """What is known of the requests beforehand: the arguments of `Capture.batch`, [requests, tokens] each."""

    attention_mask: Array | None = None
    special: Array | None = None
    input_ids: Array | None = None

    @property
    def prompt(self) -> int | None:
        """Returns how many tokens were there before the model made any."""
        found = self.attention_mask if self.input_ids is None else self.input_ids
        return None if found is None else int(found.shape[1])


@dataclass(eq=False)
class Batch:
    """Requests that are served together, and which of their positions stand.

    A call of the model covers the positions from its `start` on, which its cache says. `end` is the position behind the
    last one that stands.

    | the call starts | because the model | rows |
    |---|---|---|
    | at `end` | goes on with a token or a chunk | are added |
    | before `end` | takes tokens back (candidates it rejected, a retry), or has no cache and repeats the text | from `start` on are replaced |
    | behind `end` | finds the tokens between in a prefix cache | are added |

    A call is refused where a text begins anew with other tokens, or goes on in another cache: the batch then serves two
    texts, and whose rows are the request's cannot be told.

    Rows wait for the end of the batch: only then is it certain which positions stand. What the cache does not hold any
    more by then was thrown away by the model. Thread-safe; a batch that is closed takes nothing.
    """  # noqa: E501

    requests: Sequence[str]
    sampled: Array
    known: Known
    special_ids: Array
    timestamp_ms: int | None = None
    headers: Sequence[Mapping[str, str]] | None = None
    outer: Batch | None = None
    """The batch that is open around this one."""
    max_bytes: int = 256 << 20
    """Bytes of rows that are held; where they are more, the batch is given up: its tokens are still counted."""
    malformed: bool = False
    """Whether it could not be opened as it was given: nothing is taken of it."""
    too_large: bool = False
    """Whether it was given up: its steps have no rows any more."""
    closed: bool = False
    end: int = 0
    steps: dict[tuple[str, str], list[Step]] = field(default_factory=dict)
    _bytes: int = 0
    _calls: list[Call] = field(default_factory=list)
    _cache: Any = None
    _first: tuple[int, int] | None = None
    """Where the first call began and ended."""
    _called: bool = False
    """Whether a call of the model came to its end."""
    _came: set[tuple[str, str]] = field(default_factory=set)
    """The places that these calls came by."""
    _refused: set[str] = field(default_factory=set)
    """Sites that send no row of this batch."""
    _made_from: int = 0
    _in_chunks: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, given: Given, shape: tuple[int, int]) -> Call:
        """Decides which positions of a call are taken.

        Raises:
            ValueError: says why nothing is taken of it.
        """
        count, length = shape
        if count != len(self.requests):
            raise ValueError(
                f"the model is called with {count} rows, the batch names {len(self.requests)} requests"
                " (beams and several returned sequences cannot be told apart)"
            )
        called = None if given.ids is None else tensor_of(given.ids).values.astype(np.int64)
        with self._lock:
            if self.closed:
                raise ValueError("the model is called when the batch has ended")
            start = given.start(length, self.end)
            self._require_same_text(given.cache, start, called)
            masked = None if self.known.attention_mask is not None else tokens_in(given.mask, start, shape)
            self._move(start, length)
            self._cache = given.cache if is_one_object(given.cache) else None if start == 0 else self._cache
            call = self._call(start, shape, masked, called)
            self._take_back(start)
            self._calls.append(call)
            self.end = start + length
            return call

    def add(self, place: tuple[str, str], step: Step) -> bool:
        """Adds the rows that a call gave a place; returns False where the call gave this place rows before.

        Raises:
            ValueError: when the batch has ended.
        """
        with self._lock:
            if self.closed:
                raise ValueError("the model goes on when the batch has ended")
            steps = self.steps.setdefault(place, [])
            if steps and steps[-1].call is step.call:
                return False
            if step.call.until > step.call.start:  # no call on another thread has replaced it meanwhile
                steps.append(step)
                self._bytes += step.rows.nbytes
                if self._bytes > self.max_bytes:
                    self._give_up()
            return True

    def _give_up(self) -> None:
        self.too_large, self._bytes = True, 0
        for steps in self.steps.values():
            for step in steps:
                step.rows = step.rows.new_empty((0, step.rows.shape[1]))

    def refuse(self, site: str) -> None:
        """Gives up what was taken of a site, and what would be."""
        with self._lock:
            self._refused.add(site)
            if not self.closed:
                for place in [place for place in self.steps if place[0] == site]:
                    self._bytes -= _bytes_of(self.steps.pop(place))

    def refuses(self, site: str) -> bool:
        """Returns whether a site was given up."""
        with self._lock:
            return site in self._refused

    def end_call(self, came: Collection[tuple[str, str]]) -> None:
        """Notes which places a call of the model has come by when it ended."""
        with self._lock:
            self._called = True
            self._came.update(came)

    def missed(self, places: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
        """Returns the places that no call came by; none where no call came to its end."""
        with self._lock:
            return sorted(set(places) - self._came) if self._called else []

    def close(self) -> None:
        """Ends the batch: what the model threw away at the end is void."""
        with self._lock:
            self.closed = True
            cached, self._cache = cached_tokens(self._cache), None
            if cached is not None and self._calls and self._calls[-1].start < cached < self.end:
                self._take_back(cached)
            self.steps = {place: steps for place, steps in self.steps.items() if steps}
            ended = self._ended()
            for call in self._calls:
                positions = np.arange(call.start, call.start + call.shape[1])
                call.keep = call.keep & (positions < call.until) & (positions <= ended[:, None])

    def count(self, site: str, *, sampled: bool) -> int:
        """Returns the tokens of a closed batch that a site has seen, of requests that are sampled or of those not."""
        rows = self.sampled if sampled else ~self.sampled
        return sum(int(step.call.keep[rows].sum()) for step in self.steps.get((site, "activations"), ()))

    def taken(self) -> int:
        """Returns the rows of a closed batch, over all sites, of requests that are sampled."""
        steps = [step for (_, tensor), found in self.steps.items() if tensor == "activations" for step in found]
        calls = {id(step.call): step.call for step in steps}  # sites have their calls in common
        rows = {key: int(call.keep[self.sampled].sum()) for key, call in calls.items()}
        return sum(rows[id(step.call)] for step in steps)

    def joined(self, place: tuple[str, str]) -> Joined:
        """Returns what all calls of a closed batch gave one place."""
        found = []
        for step in self.steps[place]:
            call = step.call
            stands = call.keep.reshape(-1)[call.take]
            take = call.take[stands]
            tensor = tensor_of(step.rows)
            length = call.shape[1]
            found.append(
                Joined(
                    tensor if stands.all() else tensor.with_values(tensor.values[stands]),
                    take // length,
                    call.start + take % length,
                    None if call.ids is None else call.ids.reshape(-1)[take],
                )
            )
        known = [part.ids for part in found if part.ids is not None]
        return Joined(
            found[0].rows.with_values(np.concatenate([part.rows.values for part in found])),
            np.concatenate([part.requests for part in found]),
            np.concatenate([part.positions for part in found]),
            np.concatenate(known) if len(known) == len(found) else None,
        )

    def _require_same_text(self, cache: Any, start: int, called: Array | None) -> None:
        if start > 0:
            if self._cache is not None and is_one_object(cache) and cache is not self._cache:
                raise ValueError("the model goes on in another cache than before; a batch is for one `generate`")
            return
        for before in self._calls:
            if called is None or before.called is None:
                continue
            length = min(before.until, called.shape[1]) - before.start
            if length > 0 and not np.array_equal(
                called[:, before.start : before.start + length], before.called[:, :length]
            ):
                raise ValueError(
                    "the model begins again with other tokens and without the cache; a batch is for one `generate`"
                )

    def _move(self, start: int, length: int) -> None:
        """Follows which tokens the model made itself: those that come one at a time behind the prompt."""
        repeats = start == 0 and 0 < self.end < length
        if self._first is None or (start == 0 and not repeats):
            self._first = self._first or (start, start + length)
            self._made_from, self._in_chunks = start + length, False
        elif start == self.end == self._made_from and (length > 1 or self._in_chunks):
            self._made_from, self._in_chunks = start + length, length > 1
        if self.known.prompt is not None:
            self._made_from = self._from(self.known.prompt) + self.known.prompt

    def _from(self, width: int) -> int:
        """Returns the position of the first of so many columns: those of the whole text, or from the first call on."""
        start, end = self._first or (0, 0)
        return 0 if width >= end else start

    def _call(self, start: int, shape: tuple[int, int], masked: Array | None, called: Array | None) -> Call:
        length = shape[1]
        keep = np.ones(shape, dtype=bool) if masked is None else masked.copy()
        for rule, wanted in ((self.known.attention_mask, True), (self.known.special, False)):
            if rule is not None:
                columns = np.arange(start, start + length) - self._from(rule.shape[1])
                within = (columns >= 0) & (columns < rule.shape[1])
                keep[:, within] &= rule[:, columns[within]] == wanted
        ids = called
        if self.known.input_ids is not None:
            width = self.known.input_ids.shape[1]
            first = start - self._from(width)
            if first >= 0 and first + length <= width:
                ids = self.known.input_ids[:, first : first + length]
        if ids is not None and len(self.special_ids):
            keep &= ~np.isin(ids, self.special_ids)
        take = np.flatnonzero(keep & self.sampled[:, None])
        return Call(start, start + length, self._made_from, keep, take, called, ids)

    def _take_back(self, start: int) -> None:
        """Voids the rows from a position on."""
        for call in self._calls:
            call.until = min(call.until, start)
        self._calls = [call for call in self._calls if call.until > call.start]
        for place, steps in self.steps.items():
            void = [step for step in steps if step.call.until <= step.call.start]
            if void:
                self._bytes -= _bytes_of(void)
                self.steps[place] = [step for step in steps if step.call.until > step.call.start]

    def _ended(self) -> Array:
        """Returns of each request the position of the first special token that the model made."""
        ended = np.full(len(self.requests), np.iinfo(np.int64).max)
        if len(self.special_ids) == 0:
            return ended
        for call in self._calls:
            first = max(call.made_from, call.start)
            if call.ids is not None and first < call.until:
                made = np.isin(call.ids[:, first - call.start : call.until - call.start], self.special_ids)
                found = np.where(made.any(axis=1), first + made.argmax(axis=1), ended)
                ended = np.minimum(ended, found)
        return ended


@dataclass(frozen=True)
class Joined:
    """The rows of all calls, and of each its request, its position and its token, where that is known."""

    rows: Tensor
    requests: Array
    positions: Array
    ids: Array | None
