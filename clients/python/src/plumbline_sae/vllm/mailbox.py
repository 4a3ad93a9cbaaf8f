"""The way back: decoders of the topic, copied into a serving model between two steps.

A thread follows the topic and prepares what it finds on the model's device. The worker looks before each step, and
copies in place: compiled code and CUDA graphs read the weights where they are, so nothing is compiled or captured
again. `plumbline_sae.saelens.LiveSAE` does not apply here: it would need a lock in the forward pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..decoders import Decoder, Trained
from ..subscriber import DecoderSubscriber
from .engine import Engine
from .tap import LOG

STEPS_BETWEEN_ROUNDS = 16
"""Steps after which tensor-parallel ranks agree on decoders: a round costs a message of each rank."""


@dataclass(frozen=True)
class Hooked:
    """Weights in the served model that a site's decoder is copied into: buffers of fixed addresses.

    The encoder must have a copy of `b_dec` of its own, where it subtracts one, or a swap moves the codes.

    Attributes:
        trained: the trained decoder: what `Trained.of` takes.
        W_dec: [features, width], as the graph reads it.
        b_dec: [width].
        writes: whether the hook changes the stream, so that a prefix cache would keep what an old decoder made of it.
    """

    trained: Any
    W_dec: Any
    b_dec: Any
    writes: bool = False


@dataclass(frozen=True)
class Ready:
    """A decoder, and its weights where they are copied from."""

    decoder: Decoder
    W_dec: Any
    b_dec: Any


class Mailbox:
    """Follows the decoders of some sites on a thread, and holds the newest of each until it is taken.

    Args:
        config: configuration of `confluent_kafka.Consumer`.
        topic: where decoders are published.
        trained: the trained decoder of each site.
        prepare: brings weights of a site where they are copied from; runs on the thread.
        keys: files of public keys; one of them must have signed a decoder; None checks no signatures.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        trained: Mapping[str, Any],
        prepare: Callable[[Decoder], Ready],
        keys: Sequence[str] | None = None,
    ) -> None:
        self._prepare = prepare
        self._newest: dict[str, Ready] = {}
        self._lock = threading.Lock()
        sites = {site: Trained.of(source) for site, source in trained.items()}
        self._subscriber = DecoderSubscriber(config, sites, topic=topic, keys=keys)
        self._thread = threading.Thread(target=self._follow, name="plumbline-decoders", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> dict[str, Ready]:
        """Returns the newest decoder of each site that has one."""
        with self._lock:
            return dict(self._newest)

    def close(self) -> None:
        """Ends the following."""
        self._subscriber.close()
        self._thread.join(5.0)

    def _follow(self) -> None:
        try:
            with self._subscriber as decoders:
                for decoder in decoders:
                    ready = self._prepare(decoder)
                    with self._lock:
                        self._newest[decoder.site] = ready
        except Exception:
            LOG.exception("plumbline: the decoders topic is no longer followed; the last decoders stay")


@dataclass
class Swapper:
    """Copies waiting decoders into the model before a step, on every tensor-parallel rank before the same one.

    Attributes:
        mailbox: what waits on this rank.
        hooked: the weights in the model, by site.
        engine: tells the other ranks.
        ranks: how many there are.
        versions: the version that serves, by site.
        failed: swaps that failed; `LOG` has the first.
    """

    mailbox: Mailbox
    hooked: Mapping[str, Hooked]
    engine: Engine
    ranks: int = 1
    versions: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    _steps: int = 0
    _tried: dict[str, int] = field(default_factory=dict)

    @property
    def tags(self) -> str:
        """Returns the tags that say which decoders serve."""
        if len(self.versions) == 1:
            return f"decoder={next(iter(self.versions.values()))}"
        return ",".join(f"decoder.{site}={version}" for site, version in sorted(self.versions.items()))

    def before_step(self) -> list[Decoder]:
        """Copies what waits; returns the decoders that serve from this step on. Never raises."""
        try:
            agreed = self._agreed()
        except Exception as error:
            self._failed(error)
            return []
        swapped = []
        for ready in agreed:
            try:
                swapped.append(self._swap(ready))
            except Exception as error:
                self._failed(error)
        return swapped

    def _failed(self, error: Exception) -> None:
        self.failed += 1
        if self.failed == 1:
            LOG.warning("plumbline: a decoder was not swapped in; further failures are counted", exc_info=error)

    def _agreed(self) -> list[Ready]:
        """Returns new decoders that every rank holds: with several ranks they ask each other every few steps."""
        asks = self.ranks > 1 and bool(self.hooked)
        self._steps += 1
        if asks and self._steps % STEPS_BETWEEN_ROUNDS:
            return []
        waiting = self.mailbox.waiting
        held = {site: ready.decoder.version for site, ready in waiting.items()}
        new = {site for site, version in held.items() if version != self._tried.get(site)}
        if asks:
            everywhere = self.engine.gather(held)
            new = {site for site in new if all(other.get(site) == held[site] for other in everywhere)}
        return [waiting[site] for site in sorted(new)]

    def _swap(self, ready: Ready) -> Decoder:
        site = ready.decoder.site
        self._tried[site] = ready.decoder.version
        hooked = self.hooked.get(site)
        if hooked is not None:
            hooked.W_dec[...] = ready.W_dec
            hooked.b_dec[...] = ready.b_dec
        self.versions[site] = ready.decoder.version
        return ready.decoder


def prepared(hooked: Mapping[str, Hooked]) -> Callable[[Decoder], Ready]:
    """Returns what brings a decoder to the device and the type of the weights that it is copied into."""

    def prepare(decoder: Decoder) -> Ready:
        target = hooked.get(decoder.site)
        if target is None:
            return Ready(decoder, None, None)
        return Ready(decoder, _beside(target.W_dec, decoder.W_dec), _beside(target.b_dec, decoder.b_dec))

    return prepare


def _beside(target: Any, values: Any) -> Any:
    if type(target).__module__.split(".")[0] != "torch":
        return values
    import torch

    return torch.tensor(values).to(device=target.device, dtype=target.dtype)
