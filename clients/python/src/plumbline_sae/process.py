"""What is done for producers, captures and accumulators where a process forks or ends."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import time
import weakref
from typing import Protocol

_LOG = logging.getLogger(__name__)
_TIMEOUT = 10.0
"""Seconds that they may hold up the end of the process, all of them together."""


class Held(Protocol):
    """Something with threads, which a forked process has not, and with work that must not be lost at the end."""

    def after_fork(self) -> None:
        """Runs in the forked process before anything else does."""

    def at_exit(self, timeout: float) -> None:
        """Runs when the process ends, and may take `timeout` seconds."""


_numbers = itertools.count()
_held: weakref.WeakValueDictionary[int, Held] = weakref.WeakValueDictionary()


def hold(thing: Held) -> None:
    """Tells a thing of forks and of the end, as long as it is used otherwise."""
    _held[next(_numbers)] = thing


def left_behind(thing: str) -> str:
    """Returns the sentence for a thing that a forked process cannot use."""
    return f"the {thing} was made in a process that this one, {os.getpid()}, was forked from; make it behind the fork"


def _after_fork() -> None:
    for thing in list(_held.values()):
        thing.after_fork()


def _at_exit() -> None:
    end = time.monotonic() + _TIMEOUT
    for _, thing in sorted(_held.items(), reverse=True):  # each before what it was made with, and sends to
        try:
            thing.at_exit(max(0.0, end - time.monotonic()))
        except Exception:
            _LOG.exception("what waits at the end of the process could not be stored")


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
