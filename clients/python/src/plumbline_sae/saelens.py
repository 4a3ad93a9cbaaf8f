"""Puts a published decoder into a live SAE of `sae_lens`, and leaves every code where it was.

Copying `W_dec` and `b_dec` is not enough: an SAE with `apply_b_dec_to_input`, SAELens' default, subtracts `b_dec` from
its input, so a new `b_dec` alone switches 1 to 13 % of all codes. What else has to change:

| explainer                             | besides W_dec and b_dec                                                |
|---------------------------------------|------------------------------------------------------------------------|
| apply_b_dec_to_input                  | b_enc += (b_dec' - b_dec) W_enc; gated: b_gate so, b_mag times e^r_mag |
| rescale_acts_by_decoder_norm          | norms n of W_dec into the encoder: W_enc *= n, b_enc *= n; flag off    |
| transcoders, no apply_b_dec_to_input  | nothing                                                                |
| matching pursuit, temporal            | refused: there a decoder is an encoder                                 |
"""

from __future__ import annotations

import contextlib
import logging
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from .decoders import Decoder, Trained
from .subscriber import DecoderSubscriber

_LOG = logging.getLogger(__name__)

_SWAPPABLE = (
    "standard",
    "topk",
    "jumprelu",
    "abstopk",
    "gated",
    "transcoder",
    "skip_transcoder",
    "jumprelu_transcoder",
    "jumprelu_skip_transcoder",
)
_TIED = ("matching_pursuit", "temporal")
_SIXTEEN_BIT = (torch.float16, torch.bfloat16)


class CannotSwapError(ValueError):
    """A decoder that cannot enter this explainer without moving its codes."""


def state_dict_update(sae: Any, decoder: Decoder | Trained) -> dict[str, torch.Tensor]:
    """Returns what `sae.load_state_dict(update, strict=False)` needs so that the decoder changes and no code does.

    Of an SAE with `rescale_acts_by_decoder_norm` the update holds the encoder with the norms folded in: set
    `sae.cfg.rescale_acts_by_decoder_norm = False` with it, as `swap_` does.

    Args:
        sae: an SAE or transcoder of `sae_lens`, of version 6.
        decoder: the decoder that is to serve.

    Raises:
        CannotSwapError: when the shapes differ, when the decoder is also the encoder, when the architecture is unknown,
            or when 16-bit biases would round codes onto the other side.
    """
    return _update(sae, decoder, _Encoder.of(sae))


@dataclass(frozen=True)
class _Encoder:
    """The parameters that decide on the codes, and what `b_dec` they were trained with."""

    parameters: Mapping[str, torch.Tensor]
    b_dec: torch.Tensor

    @classmethod
    def of(cls, sae: Any) -> _Encoder:
        names = ("W_enc", "b_enc", "b_gate", "b_mag", "r_mag")
        found = {name: getattr(sae, name).detach() for name in names if getattr(sae, name, None) is not None}
        return cls({name: value.clone() for name, value in found.items()}, sae.b_dec.detach().clone())

    def biases(self) -> dict[str, torch.Tensor]:
        return {name: value for name, value in self.parameters.items() if name in ("b_enc", "b_gate", "b_mag")}


def _update(sae: Any, decoder: Decoder | Trained, trained: _Encoder) -> dict[str, torch.Tensor]:
    architecture = _architecture(sae)
    if decoder.W_dec is None or decoder.b_dec is None:
        raise CannotSwapError("only the identity of the decoder is known, not its weights")
    update: dict[str, torch.Tensor] = {}
    for name, values in (("W_dec", decoder.W_dec), ("b_dec", decoder.b_dec)):
        current = getattr(sae, name)
        if tuple(values.shape) != tuple(current.shape):
            raise CannotSwapError(
                f"{name} of the decoder is {list(values.shape)}, the explainer's {list(current.shape)}"
            )
        update[name] = torch.tensor(values).to(device=current.device, dtype=current.dtype)
    encoder = {name: value.double() for name, value in trained.parameters.items()}
    changed: set[str] = set()
    if getattr(sae.cfg, "rescale_acts_by_decoder_norm", False):
        norms = sae.W_dec.detach().double().norm(dim=-1)
        encoder["W_enc"] = encoder["W_enc"] * norms
        encoder["b_enc"] = encoder["b_enc"] * norms
        changed |= {"W_enc", "b_enc"}
    shift = update["b_dec"].double() - trained.b_dec.double()
    if sae.cfg.apply_b_dec_to_input and architecture not in _TRANSCODERS and bool(shift.any()):
        moved = shift @ encoder["W_enc"]
        for name in trained.biases():
            encoder[name] = encoder[name] + (moved * encoder["r_mag"].exp() if name == "b_mag" else moved)
            changed.add(name)
    if changed and sae.b_dec.dtype in _SIXTEEN_BIT:
        raise CannotSwapError(
            f"the explainer computes in {sae.b_dec.dtype}: {', '.join(sorted(changed))} would be rounded, and codes"
            " would switch; call sae.to(torch.float32) first"
        )
    for name in changed:
        update[name] = encoder[name].to(trained.parameters[name].dtype)
    if sae.cfg.apply_b_dec_to_input:
        for name in set(trained.biases()) - changed:
            update[name] = trained.parameters[name].clone()
    return update


_TRANSCODERS = tuple(name for name in _SWAPPABLE if name.endswith("transcoder"))


def _architecture(sae: Any) -> str:
    name = str(sae.cfg.architecture())
    if name in _TIED:
        raise CannotSwapError(
            f"architecture {name}: its decoder is also its encoder, so another one would move the codes"
        )
    if name not in _SWAPPABLE:
        raise CannotSwapError(f"architecture {name}: expected one of {', '.join(_SWAPPABLE)}")
    return name


@dataclass(frozen=True)
class _Swapped:
    """An encoder as it was trained, and the biases that the latest swap made of it."""

    trained: _Encoder
    biases: Mapping[str, torch.Tensor]
    b_dec: torch.Tensor

    def is_still_in(self, sae: Any) -> bool:
        now = _Encoder.of(sae)
        unchanged = all(torch.equal(value, self.biases[name]) for name, value in now.biases().items())
        same_encoder = torch.equal(now.parameters["W_enc"], self.trained.parameters["W_enc"])
        return unchanged and same_encoder and torch.equal(now.b_dec, self.b_dec)


_SWAPS: weakref.WeakKeyDictionary[Any, _Swapped] = weakref.WeakKeyDictionary()


def swap_(sae: Any, decoder: Decoder | Trained) -> None:
    """Puts a decoder into an SAE in place; every code stays where it was.

    The biases are made of those that were trained, however many swaps came between: rounding does not add up, and the
    trained decoder brings the encoder back to the last bit. Everything is computed before the first parameter changes.
    No lock is taken: swap between forward passes, or use `LiveSAE`.

    Raises:
        CannotSwapError: as `state_dict_update`; the SAE is then as it was.
    """
    known = _SWAPS.get(sae)
    trained = known.trained if known is not None and known.is_still_in(sae) else _Encoder.of(sae)
    update = _update(sae, decoder, trained)
    with torch.no_grad():
        for name, value in update.items():
            getattr(sae, name).copy_(value)
        if getattr(sae.cfg, "rescale_acts_by_decoder_norm", False):
            # From here on the encoder with the norms in it is the one to keep still.
            sae.cfg.rescale_acts_by_decoder_norm = False
            trained = _Encoder.of(sae)
    now = _Encoder.of(sae)
    _SWAPS[sae] = _Swapped(trained, now.biases(), now.b_dec)


class LiveSAE:
    """An SAE whose decoder is the one in service: a thread follows the topic and swaps between forward passes.

        live = LiveSAE(sae, "residual.5", {"bootstrap.servers": "localhost:9092"})
        with live.forward_lock():
            codes = sae.encode(activations)

    It does not apply to what is compiled or captured, such as a model that vLLM serves: there a forward pass cannot
    take a lock, and a flag that a swap changes is never read again. `plumbline_sae.vllm` swaps between steps.

    Args:
        sae: an SAE of `sae_lens`, with the decoder that was trained.
        site: the site in plumbline.yaml.
        config: configuration of `confluent_kafka.Consumer`.
        topic: where decoders are published.
        lock: taken for the time of a swap; default: a lock of its own.
        keys: files of public keys; one of them must have signed a decoder; None checks no signatures.

    Raises:
        CannotSwapError: when no decoder could ever be put into this explainer.
    """

    def __init__(
        self,
        sae: Any,
        site: str,
        config: Mapping[str, Any],
        *,
        topic: str = "decoders",
        lock: threading.Lock | None = None,
        keys: Sequence[str | Path] | None = None,
    ) -> None:
        _architecture(sae)
        self._sae = sae
        self._site = site
        self._lock = lock or threading.Lock()
        self._version = 0
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._subscriber = DecoderSubscriber(config, {site: Trained.of(sae)}, topic=topic, keys=keys)
        self._thread = threading.Thread(target=self._follow, name=f"plumbline-{site}", daemon=True)
        self._thread.start()

    @property
    def version(self) -> int:
        """Returns the version that serves; 0 for the decoder that was trained, before any was published."""
        return self._version

    @property
    def error(self) -> BaseException | None:
        """Returns what ended the following, or None while it goes on. The SAE keeps the last decoder."""
        return self._error

    def wait_for(self, version: int, timeout: float) -> bool:
        """Waits until a version at least as high serves; False when it does not within `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._version >= version, timeout)

    @contextlib.contextmanager
    def forward_lock(self) -> Iterator[None]:
        """Holds swaps off while a forward pass runs."""
        with self._lock:
            yield

    def close(self) -> None:
        """Ends the following; the decoder in service stays in the SAE."""
        self._subscriber.close()
        self._thread.join()

    def __enter__(self) -> LiveSAE:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _follow(self) -> None:
        try:
            with self._subscriber as decoders:
                for decoder in decoders:
                    self._swap(decoder)
        except Exception as error:
            self._error = error
            _LOG.exception("%s: the decoders topic is no longer followed", self._site)

    def _swap(self, decoder: Decoder) -> None:
        try:
            with self._lock:
                swap_(self._sae, decoder)
        except CannotSwapError as error:
            _LOG.warning("%s version %d is not served: %s", self._site, decoder.version, error)
            return
        with self._changed:
            self._version = decoder.version
            self._changed.notify_all()
