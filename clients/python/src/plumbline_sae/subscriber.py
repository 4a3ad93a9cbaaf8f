"""Follows the decoders topic: every decoder of a site, complete and verified, in the order of their versions."""

from __future__ import annotations

import hashlib
import logging
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from .decoders import LARGEST, SCHEMA, Decoder, Trained, decoder_of, manifest_of
from .signatures import HEADER, TrustedKeys

_LOG = logging.getLogger(__name__)

_CHUNK_HEADER = struct.Struct(">bqi")
"""Layout, version and index of a chunk."""

_LAYOUT = 1
_BYTES_PER_WEIGHT = 8
_ARTEFACT_ALLOWANCE = 1 << 20
_TOPIC_WAIT = 0.5
"""Seconds between two questions whether the topic exists."""

Refusals = Callable[[str, int, str], None]


class Assembler:
    """Puts versions of one site together from the records of the topic; what is no sound version is refused.

    Args:
        site: the site.
        trained: what its decoders must have been made from, one of these; none takes the manifest's word.
        on_refused: called with site, version (0 where a record has none) and a sentence.
        after_version: versions up to this one are passed over.
        keys: one of them must have signed a version; None checks no signatures.
    """

    def __init__(
        self,
        site: str,
        trained: Sequence[Trained],
        on_refused: Refusals | None = None,
        after_version: int = 0,
        keys: TrustedKeys | None = None,
    ) -> None:
        self._site = site
        self._keys = keys
        self._trained = trained
        self._on_refused = on_refused or _log_refusal
        self._served = after_version
        self._most = LARGEST
        weights = [one.W_dec.size for one in trained if one.W_dec is not None]
        if trained and len(weights) == len(trained):
            self._most = min(LARGEST, _BYTES_PER_WEIGHT * max(weights) + _ARTEFACT_ALLOWANCE)
        self._version: int | None = None
        self._chunks: dict[int, bytes] = {}
        self._held = 0

    def accept(self, key: bytes | None, value: bytes | None, signed: bytes | None = None) -> Decoder | None:
        """Takes the next record of the topic, with what its signature's header holds; returns what it completes."""
        if value is None:
            return None
        text = (key or b"").decode("utf-8", "replace")
        name, mark, number = text.rpartition("#")
        if mark and number.isdecimal():
            if name == self._site:
                self._chunk(number, value)
            return None
        return self._manifest(key or b"", value, signed) if text == self._site else None

    def _chunk(self, number: str, value: bytes) -> None:
        if len(value) < _CHUNK_HEADER.size:
            return
        layout, version, index = _CHUNK_HEADER.unpack_from(value)
        if layout != _LAYOUT or str(index) != number or version <= self._served:
            return
        if version != self._version:
            self._forget()
            self._version = version
        self._held += len(value) - len(self._chunks.get(index, b""))
        self._chunks[index] = value
        if self._held > self._most + len(self._chunks) * _CHUNK_HEADER.size:
            self._forget()
            self._on_refused(self._site, version, f"is not served: it has more than {self._most} bytes")

    def _forget(self) -> None:
        self._version, self._chunks, self._held = None, {}, 0

    def _manifest(self, key: bytes, value: bytes, signed: bytes | None) -> Decoder | None:
        try:
            manifest = manifest_of(value)
        except ValueError as error:
            self._on_refused(self._site, 0, f"has a record that is no manifest: {error}")
            return None
        version = manifest["version"]
        if manifest["schema"] != SCHEMA:
            self._on_refused(self._site, version, f"passed over: schema {manifest['schema']}")
            return None
        whole = (
            version == self._version
            and len(self._chunks) == manifest["chunks"]
            and max(self._chunks) == manifest["chunks"] - 1
        )
        if not whole or version <= self._served:
            return None
        unsigned = None if self._keys is None else self._keys.refusal(key, value, signed)
        if unsigned is not None:
            self._forget()
            self._on_refused(self._site, version, f"is not served: {unsigned}")
            return None
        parent = next((one for one in self._trained if one.identity == manifest["parent_sha256"]), None)
        if self._trained and parent is None:
            self._forget()
            made_from = manifest["parent_sha256"]
            self._on_refused(
                self._site, version, f"is not served: it was made from {made_from}, which is not held here"
            )
            return None
        blob = b"".join(self._chunks[index][_CHUNK_HEADER.size :] for index in range(len(self._chunks)))
        self._forget()
        try:
            if len(blob) != manifest["bytes"] or hashlib.sha256(blob).hexdigest() != manifest["sha256"]:
                raise ValueError("its bytes are not those of its manifest")
            decoder = decoder_of(self._site, manifest, blob, parent)
        except ValueError as error:
            self._on_refused(self._site, version, f"is not served: {error}")
            return None
        self._served = version
        return decoder


def _held(trained: Any) -> list[Trained]:
    if trained is None:
        return []
    return [Trained.of(one) for one in (trained if isinstance(trained, list | tuple) else [trained])]


def _log_refusal(site: str, version: int, what: str) -> None:
    _LOG.warning("%s %s%s", site, f"version {version} " if version else "", what)


def _signature(message: Any) -> bytes | None:
    found = [value for name, value in message.headers() or [] if name == HEADER]
    return found[-1] if found else None


class DecoderSubscriber:
    """Yields every new decoder of some sites, verified, and goes on until it is closed.

    It reads the compacted topic from its beginning with `read_committed` and without a group, so one that starts late
    finds the newest complete version: of the versions that stand on the topic at the start only the newest of each site
    is handed over. When the broker goes away the Kafka client reconnects, and reading goes on where it stopped.

        with DecoderSubscriber({"bootstrap.servers": "localhost:9092"}, {"residual.5": Trained.of("sae/")}) as decoders:
            for decoder in decoders:
                ...

    A decoder in arrival takes its bytes twice in memory, for a moment. Not thread-safe: one thread reads; `close` may
    be called from any.

    Args:
        config: configuration of `confluent_kafka.Consumer`, TLS and SASL included.
        sites: the trained decoder of each site: `Trained`, or what `Trained.of` takes; None takes the manifest's word.
            A list where another explainer may take its place: a decoder's `parent_sha256` says whose it is.
        topic: where decoders are published.
        after_version: the version that each site serves already, to go on after it.
        on_refused: called with site, version and a sentence when something of a site is not taken; default: a warning
            in the log.
        keys: files of public keys in PEM; one of them must have signed a decoder (needs `cryptography`); None checks
            no signatures.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        sites: Mapping[str, Any],
        *,
        topic: str = "decoders",
        after_version: Mapping[str, int] | None = None,
        on_refused: Refusals | None = None,
        keys: Sequence[str | Path] | None = None,
    ) -> None:
        self._topic = topic
        after = after_version or {}
        trusted = None if keys is None else TrustedKeys(keys)
        self._assemblers = {
            site: Assembler(site, _held(trained), on_refused, after.get(site, 0), trusted)
            for site, trained in sites.items()
        }
        self._consumer = Consumer(
            {
                "group.id": "none",  # the library asks for one; nothing is ever committed to it
                **config,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",  # nothing of an emission that is under way, or was given up
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "allow.auto.create.topics": False,
            }
        )
        self._unread: set[int] | None = None
        self._newest: dict[str, Decoder] = {}
        self._ready: list[Decoder] = []
        self._closed = False

    @property
    def caught_up(self) -> bool:
        """Returns whether the end of every partition has been met, so that the newest decoders were handed over."""
        return self._unread is not None and not self._unread

    def poll(self, timeout: float = 1.0) -> Decoder | None:
        """Returns the next decoder, or None when there is none within `timeout` seconds.

        Raises:
            KafkaException: when the client cannot go on, such as for want of rights; a broker that is away is waited
                for.
        """
        deadline = time.monotonic() + timeout
        while not self._closed:
            if self._ready:
                return self._ready.pop(0)
            left = deadline - time.monotonic()
            if left < 0:
                return None
            self._step(left)
        return None

    def catch_up(self, timeout: float = 60.0) -> list[Decoder]:
        """Reads to the end of the topic and returns the newest decoder of each site that has one.

        Raises:
            TimeoutError: when the end is not met within `timeout` seconds.
            KafkaException: when the client cannot go on, or the topic does not exist.
        """
        deadline = time.monotonic() + timeout
        while not self.caught_up:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the end of topic {self._topic} was not met within {timeout:g} s")
            self._step(1.0, topic_must_exist=True)
        found, self._ready = self._ready, []
        return found

    def __iter__(self) -> Iterator[Decoder]:
        while not self._closed:
            decoder = self.poll()
            if decoder is not None:
                yield decoder

    def close(self) -> None:
        """Ends the reading; a loop over this object ends within a second."""
        self._closed = True

    def __enter__(self) -> DecoderSubscriber:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._consumer.close()

    def _step(self, timeout: float, *, topic_must_exist: bool = False) -> None:
        if self._unread is None and not self._assign(timeout, topic_must_exist):
            return
        message = self._consumer.poll(timeout)
        if message is None:
            return
        error = message.error()
        if error is None:
            self._take(message.key(), message.value(), _signature(message))
        elif error.code() == KafkaError._PARTITION_EOF:
            self._end(message.partition())
        elif error.fatal() or not (error.retriable() or error.code() in _BROKER_AWAY):
            raise KafkaException(error)

    def _assign(self, timeout: float, topic_must_exist: bool) -> bool:
        try:
            metadata = self._consumer.list_topics(self._topic, timeout=max(0.1, min(timeout, 30))).topics[self._topic]
        except KafkaException as error:
            if error.args[0].code() in _BROKER_AWAY:
                return False
            raise
        if metadata.error is not None:
            unknown = metadata.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
            if metadata.error.code() in _BROKER_AWAY or (unknown and not topic_must_exist):
                time.sleep(min(timeout, _TOPIC_WAIT))
                return False
            raise KafkaException(metadata.error)
        self._consumer.assign([TopicPartition(self._topic, number, OFFSET_BEGINNING) for number in metadata.partitions])
        self._unread = set(metadata.partitions)
        return True

    def _take(self, key: bytes | None, value: bytes | None, signed: bytes | None) -> None:
        for site, assembler in self._assemblers.items():
            decoder = assembler.accept(key, value, signed)
            if decoder is None:
                continue
            if self.caught_up:
                self._ready.append(decoder)
            else:
                self._newest[site] = decoder

    def _end(self, partition: int) -> None:
        if self._unread:
            self._unread.discard(partition)
            if not self._unread:
                self._ready.extend(self._newest.values())
                self._newest = {}


_BROKER_AWAY = {
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
}
