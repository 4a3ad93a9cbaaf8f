"""Sums H.T @ H of every record in float64: what one writes in Python. Prints "<seconds> <rows>" as it goes."""

import json
import sys
import time

import numpy as np
from confluent_kafka import Consumer, TopicPartition


def rows_of(record, d):
    """The float32 rows of one safetensors record, without a copy."""
    length = int.from_bytes(record[:8], "little")
    begin, end = json.loads(record[8 : 8 + length])["activations"]["data_offsets"]
    return np.frombuffer(record, np.float32, (end - begin) // 4, 8 + length + begin).reshape(-1, d)


def main():
    servers, topic, d, records, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    consumer = Consumer({
        "bootstrap.servers": servers,
        "group.id": "unused",
        "enable.auto.commit": False,
        "max.partition.fetch.bytes": 16777216,
        "fetch.max.bytes": 67108864,
        "queued.max.messages.kbytes": 262144,
    })
    consumer.assign([TopicPartition(topic, 0, 0)])
    moment = np.zeros((d, d))
    read = rows = 0
    first = None
    while read < records and (first is None or time.monotonic() - first < limit):
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error():
            raise SystemExit(str(message.error()))
        if first is None:
            first = time.monotonic()
            print(f"{first:.6f} 0", flush=True)
        batch = rows_of(message.value(), d).astype(np.float64)
        moment += batch.T @ batch
        read += 1
        rows += len(batch)
        if read % 16 == 0 or read == records:
            print(f"{time.monotonic():.6f} {rows}", flush=True)
    consumer.close()
    print("trace", float(np.trace(moment)))


main()
