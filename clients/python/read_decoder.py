#!/usr/bin/env python3
"""Reads the decoder in service of a site from the decoders topic, verified, and prints what it is.

Needs numpy, safetensors and confluent-kafka. Exit code 0: printed; 3: the topic holds no whole version for this parent.

    read_decoder.py --bootstrap-servers localhost:9092 --site encoder.layer.2 --parent sae/sae_weights.safetensors

`--parent` is the trained decoder you hold: what was fitted for another one is not read. Without it the manifest's word is
taken, and a decoder that travels as factors (`encoding: factored`), which is made of them and the trained one, cannot be read.
safetensors' numpy loader has no bf16: with `dtype: bf16` load the blob with torch. What stands on the topic, and
what a long-running reader owes: deploy/DECODERS.md.
"""

import argparse
import hashlib
import json
import struct
import sys

import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from safetensors.numpy import load, load_file

CHUNK_HEADER = struct.Struct(">bqi")  # layout, version, index
LARGEST = 2_147_483_583  # bytes of an artefact
WEIGHTS, FACTORS = 1, 2  # schema of a manifest
BLOCK = 256  # features whose weights are made together


def identity(tensors):
    """The identity of a decoder: SHA-256 of W_dec, then b_dec, as little-endian float32."""
    digest = hashlib.sha256()
    for name in ("W_dec", "b_dec"):
        digest.update(np.ascontiguousarray(tensors[name], dtype="<f4").tobytes())
    return digest.hexdigest()


def records(consumer, topic):
    """Every committed record, until the end of each partition has been met once."""
    metadata = consumer.list_topics(topic, timeout=30).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in metadata.partitions])
    unread = set(metadata.partitions)
    while unread:
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error() is None:
            yield message.key(), message.value()
        elif message.error().code() == KafkaError._PARTITION_EOF:
            unread.discard(message.partition())
        else:
            raise KafkaException(message.error())


def made_of(factors, trained):
    """The decoder of its factors and the trained one, to the last bit of what was published (deploy/SWAPS.md).

    In float64, every product and every sum rounded by itself, every sum in ascending order; then float32. numpy multiplies and adds
    in two steps, so nothing is fused; `@` would add in an order of its own.
    """

    def product(rows, factor):
        total = np.zeros((len(rows), factor.shape[1]))
        for index in range(len(factor)):
            total += rows[:, index, None] * factor[index]
        return total

    exact = {name: tensor.astype(np.float64) for name, tensor in factors.items() if tensor.dtype == np.float32}
    weights = trained["W_dec"].astype("<f4").astype(np.float64)
    if "turn" in exact:
        for first in range(0, len(weights), BLOCK):
            rows = product(weights[first : first + BLOCK], exact["turn"])
            weights[first : first + BLOCK] = product(rows, exact["basis"].T) if "basis" in exact else rows
    if "dual" in exact:
        start = factors["row_start"]
        for row, dual in enumerate(exact["dual"]):
            entries = slice(start[row], start[row + 1])
            weights[factors["feature"][entries]] += exact["value"][entries, None] * dual
    return {"W_dec": weights.astype("<f4"), "b_dec": factors["b_dec"]}


def newest(found, site, parent):
    """(manifest, tensors) of the newest version whose chunks are all there and whose SHA-256 is right; None without one."""
    version, chunks, best = None, {}, None
    for key, value in found:
        name, mark, number = (key or b"").decode("utf-8", "replace").rpartition("#")
        if value is None:
            continue
        if mark and number.isdecimal():
            if name != site or len(value) < CHUNK_HEADER.size:
                continue
            layout, of_version, index = CHUNK_HEADER.unpack_from(value)
            if layout == 1 and index == int(number):
                if of_version != version:
                    version, chunks = of_version, {}
                chunks[index] = value[CHUNK_HEADER.size :]
            continue
        if key.decode("utf-8", "replace") != site:
            continue
        manifest = json.loads(value)
        whole = manifest["version"] == version and sorted(chunks) == list(range(manifest["chunks"]))
        mine = parent is None or manifest["parent_sha256"] == parent
        if manifest["schema"] not in (WEIGHTS, FACTORS):
            print(f"{site} version {manifest['version']} passed over: schema {manifest['schema']}", file=sys.stderr)
            continue
        sha256 = manifest["sha256" if manifest["schema"] == WEIGHTS else "artefact_sha256"]
        if not (whole and mine and manifest["bytes"] <= LARGEST):
            continue
        blob = b"".join(chunks[i] for i in range(manifest["chunks"]))
        if len(blob) == manifest["bytes"] and hashlib.sha256(blob).hexdigest() == sha256:
            if best is None or manifest["version"] > best[0]["version"]:
                best = manifest, blob
        version, chunks = None, {}
    return best and (best[0], load(best[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[1])
    parser.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT")
    parser.add_argument("--site", required=True, help="as in plumbline.yaml")
    parser.add_argument("--topic", default="decoders", help="default: %(default)s")
    parser.add_argument("--parent", metavar="FILE", help="safetensors file with W_dec and b_dec of the trained decoder")
    options = parser.parse_args()

    consumer = Consumer({
        "bootstrap.servers": options.bootstrap_servers,
        "group.id": "none",  # the library asks for one; nothing is ever committed to it
        "enable.auto.commit": False,
        "isolation.level": "read_committed",  # nothing of an emission that is under way, or was given up
        "auto.offset.reset": "earliest",
        "enable.partition.eof": True,
    })
    try:
        trained = load_file(options.parent) if options.parent else None
        decoder = newest(records(consumer, options.topic), options.site, trained and identity(trained))
    finally:
        consumer.close()
    if decoder is None:
        print(f"{options.site}: no whole decoder for this parent on {options.topic}", file=sys.stderr)
        return 3
    manifest, tensors = decoder
    if manifest["schema"] == FACTORS:
        name = f"{options.site} version {manifest['version']}"
        if trained is None:
            print(f"{name} travels as factors of the trained decoder: name that with --parent, or have it published"
                  " with adaptation.encoding: dense", file=sys.stderr)
            return 3
        tensors = made_of(tensors, trained)
        if identity(tensors) != manifest["sha256"]:
            print(f"{name} is not served: its factors make another decoder than {manifest['sha256']}", file=sys.stderr)
            return 3
    features, dimension = tensors["W_dec"].shape
    print(
        f"{options.site} version {manifest['version']} ({manifest['kind']}): {features} features x {dimension},"
        f" {tensors['W_dec'].dtype}, sha256 {manifest['sha256']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
