"""Topics of a broker: made, read to their ends, and the records of each request put together."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from plumbline_sae.tensors import Array, Tensor, decode


def create(bootstrap: str, name: str) -> str:
    """Makes a topic of one partition with a name of its own; returns the name."""
    topic = f"{name}-{time.time_ns() % 10**9}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    config = {"max.message.bytes": str(16 << 20)}
    for made in admin.create_topics([NewTopic(topic, 1, 1, config=config)]).values():
        made.result()
    return topic


def records(bootstrap: str, topic: str, start: int = 0, idle: float = 3.0) -> Iterator[Any]:
    """Yields the records of a topic of one partition from an offset on, until none comes for a while."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"matrix-{time.time_ns()}",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, start)])
    patience = 20.0
    while (message := consumer.poll(patience)) is not None:
        if message.error():
            raise SystemExit(message.error())
        patience = idle
        yield message
    consumer.close()


@dataclass
class Request:
    """What came of one request at one site."""

    headers: dict[str, str]
    parts: list[dict[str, Tensor]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def rows(self, name: str = "activations") -> Array:
        return np.concatenate([part[name].widened() for part in self.parts])

    @property
    def ids(self) -> list[int]:
        return [int(number) for part in self.parts for number in part["token_ids"].values]


def requests(bootstrap: str, topic: str, start: int = 0) -> dict[tuple[str, str], Request]:
    """Returns what came of each request, by site and vLLM's name of it, from an offset on."""
    found: dict[tuple[str, str], Request] = {}
    for message in records(bootstrap, topic, start):
        headers = {key: value.decode() for key, value in message.headers() or []}
        request = found.setdefault((headers["site"], headers.get("request", "")), Request(headers))
        if message.value() is not None:
            request.parts.append(decode(message.value()))
        for name in ("cached", "not_sampled", "dropped", "tokens_served"):
            request.counts[name] += int(headers.get(name, 0))
    return found
