"""Joins the rows of steps to requests, by position.

A step computes some tokens of each request: a chunk of a prompt, one token, or one token and the drafts of a
speculator. The position names a row of a request, and a later row of a position replaces an earlier one:
so a rejected draft is replaced by the token in its place, and what is computed again after a preemption counts once.
A position without a row was never computed: a prefix cache held it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from ..tensors import Array


class Lost(Enum):
    """Why computed tokens have no row."""

    DROPPED = "dropped"
    NOT_SAMPLED = "not_sampled"


class StepRows:
    """The rows of one step, held until no request needs them.

    Attributes:
        places: the rows of each place, in one order, and what was read from them.
        ids: the token of each row.
        size: bytes that the rows take.
        users: spans of requests that need the rows.
    """

    __slots__ = ("ids", "places", "size", "users")

    def __init__(self, places: Mapping[Any, Any], ids: Array, size: int) -> None:
        self.places = places
        self.ids = ids
        self.size = size
        self.users = 0


@dataclass(frozen=True)
class Run:
    """Rows `first` to `end` of a step."""

    step: StepRows
    first: int
    end: int


@dataclass(frozen=True)
class Settled:
    """Tokens of a request that certainly stand: their rows, and how many have none.

    Attributes:
        runs: the rows, by position.
        cached: tokens that were never computed.
        dropped: tokens whose rows found no room, or could not be taken.
        not_sampled: tokens of a request that sampling left out.
        freed: bytes of steps that nobody needs any more, once these rows are sent.
    """

    runs: list[Run]
    cached: int
    dropped: int
    not_sampled: int
    freed: int

    @property
    def rows(self) -> int:
        """Returns how many rows there are."""
        return sum(run.end - run.first for run in self.runs)


@dataclass(slots=True)
class _Span:
    """Consecutive positions from one step, or without rows."""

    position: int
    count: int
    source: StepRows | Lost
    first: int


@dataclass
class Request:
    """A request that is served.

    Attributes:
        name: vLLM's name of it.
        is_sampled: whether its rows are taken.
        headers: headers of its records.
        settled: positions before this one were handed on.
        sure: positions before this one are of tokens that stand.
    """

    name: str
    is_sampled: bool
    headers: dict[str, str]
    settled: int = 0
    sure: int = 0
    _spans: list[_Span] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """Returns how many tokens stand and were not handed on."""
        return self.sure - self.settled

    def add(self, position: int, count: int, drafts: int, source: StepRows | Lost, first: int = 0) -> None:
        """Adds the tokens of a step.

        Args:
            position: the position of the first one; every token before it stands.
            count: how many there are.
            drafts: how many of them, the last ones, a speculator guessed.
            source: their rows, or why they have none.
            first: the first of their rows.
        """
        self.sure = max(self.sure, position + count - drafts)
        last = self._spans[-1] if self._spans else None
        if isinstance(source, StepRows):
            source.users += 1
        elif last is not None and last.source is source and last.position + last.count == position:
            last.count += count
            return
        self._spans.append(_Span(position, count, source, first))

    def resume(self) -> int:
        """Forgets guessed tokens after a preemption, since nothing says which stood; returns the bytes this frees."""
        for span in self._spans:
            span.count = min(span.count, self.sure - span.position)
        return self._drop([span for span in self._spans if span.count <= 0])

    def settle(self) -> Settled:
        """Hands on the tokens that stand. Cost: one pass over the steps since the call before."""
        start, end = self.settled, self.sure
        owners = np.full(end - start, -1, dtype=np.int64)
        for number, span in enumerate(self._spans):
            first, last = max(span.position, start), min(span.position + span.count, end)
            if first < last:
                owners[first - start : last - start] = number
        runs = []
        counts = dict.fromkeys(Lost, 0)
        cached = 0
        edges = np.flatnonzero(np.diff(owners)) + 1
        for low, high in zip([0, *edges.tolist()], [*edges.tolist(), len(owners)], strict=True):
            if low == high:
                continue
            owner = int(owners[low])
            if owner < 0:
                cached += high - low
                continue
            span = self._spans[owner]
            if isinstance(span.source, Lost):
                counts[span.source] += high - low
            else:
                offset = span.first - span.position + start
                runs.append(Run(span.source, low + offset, high + offset))
        self.settled = end
        freed = self._drop([span for span in self._spans if span.position + span.count <= end])
        return Settled(runs, cached, counts[Lost.DROPPED], counts[Lost.NOT_SAMPLED], freed)

    def end(self) -> int:
        """Forgets what was not settled; returns the bytes this frees."""
        return self._drop(list(self._spans))

    def _drop(self, ended: list[_Span]) -> int:
        freed = 0
        for span in ended:
            if isinstance(span.source, StepRows):
                span.source.users -= 1
                freed += span.source.size if span.source.users == 0 else 0
        if ended:
            gone = {id(span) for span in ended}
            self._spans = [span for span in self._spans if id(span) not in gone]
        return freed
