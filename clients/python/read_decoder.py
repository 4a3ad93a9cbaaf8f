#!/usr/bin/env python3
"""Reads the decoder in service of a site from the decoders topic, verified, and prints what it is.

Needs numpy, safetensors and confluent-kafka. Exit code 0: printed; 3: the topic holds no whole version for this parent.

    read_decoder.py --bootstrap-servers localhost:9092 --site encoder.layer.2 --parent sae/sae_weights.safetensors

`--parent` is the trained decoder you hold: what was fitted for another one is not read. Without it the manifest's word is
taken, and a decoder that travels as factors (`encoding: factored`), which is made of them and the trained one, cannot be read.
safetensors' numpy loader has no bf16: with `dtype: bf16` load the blob with torch. What stands on the topic, and
what a long-running reader owes: docs/concepts/decoders.md.
"""

import argparse
import hashlib
import json
import re
import struct
import sys

import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from safetensors import SafetensorError
from safetensors.numpy import load, load_file

CHUNK_HEADER = struct.Struct(">bqi")  # layout, version, index
LARGEST = 2_147_483_583  # bytes of an artefact
WEIGHTS, FACTORS = 1, 2  # schema of a manifest
SHA256 = re.compile("[0-9a-f]{64}")
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
    """The decoder of its factors and the trained one, to the last bit of what was published (docs/concepts/swaps.md).

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


def refused(site, what):
    """Says why something of the site is not taken; the reader goes on with what else there is."""
    print(f"{site} {what}", file=sys.stderr)


def manifest_of(value):
    """The manifest in a record's value, every field it is used by checked; ValueError says what is wrong with it."""
    try:
        manifest = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {str(error)[:80]}") from None
    if not isinstance(manifest, dict):
        raise ValueError("no JSON object")
    for name, most in (("schema", 2**31), ("version", 2**53), ("chunks", LARGEST), ("bytes", LARGEST)):
        number = manifest.get(name)
        if type(number) is not int or not 0 < number <= most:
            raise ValueError(f"{name} = {str(number)[:40]}, expected a whole number from 1 to {most}")
        if name == "version" and manifest["schema"] not in (WEIGHTS, FACTORS):
            return manifest  # of a layout to come: no more is known of it
    names = ["sha256", "parent_sha256"] + (["artefact_sha256"] if manifest["schema"] == FACTORS else [])
    for name in names:
        if not (isinstance(manifest.get(name), str) and SHA256.fullmatch(manifest[name])):
            raise ValueError(f"{name} = {str(manifest.get(name))[:80]}, expected 64 hexadecimal digits")
    if not isinstance(manifest.get("kind"), str):
        raise ValueError("no kind")
    return manifest


def checked(decoder, trained):
    """The decoder, whose shapes and values are those of one; ValueError says what is wrong with it."""
    for name, rank in (("W_dec", 2), ("b_dec", 1)):
        tensor = decoder.get(name)
        if tensor is None or tensor.ndim != rank or tensor.dtype.kind != "f":
            found = "is missing" if tensor is None else f"is {tensor.dtype} {list(tensor.shape)}"
            raise ValueError(f"{name} {found}, expected floating point of {rank} dimension{'s' * (rank > 1)}")
        if trained is not None and tensor.shape != trained[name].shape:
            raise ValueError(f"{name} is {list(tensor.shape)}, the trained decoder's {list(trained[name].shape)}")
        if not np.isfinite(tensor).all():
            raise ValueError(f"{name} holds a value that is not finite")
    if decoder["W_dec"].shape[1] != decoder["b_dec"].shape[0]:
        raise ValueError(f"W_dec {list(decoder['W_dec'].shape)} and b_dec {list(decoder['b_dec'].shape)} do not fit")
    return decoder


def decoder_of(manifest, blob, trained):
    """The decoder an artefact holds, or makes of the trained one; ValueError says why it is none."""
    try:
        tensors = load(blob)
        if manifest["schema"] == WEIGHTS:
            return checked(tensors, trained)
        if trained is None:
            raise ValueError(
                "travels as factors of the trained decoder: name that with --parent, or have it published"
                " with adaptation.encoding: dense"
            )
        decoder = checked(made_of(tensors, trained), trained)
    except (SafetensorError, KeyError, IndexError, TypeError) as error:
        raise ValueError(f"cannot be read: {error}") from None
    if identity(decoder) != manifest["sha256"]:
        raise ValueError(f"its factors make another decoder than {manifest['sha256']}")
    return decoder


def newest(found, site, parent, trained=None):
    """(manifest, decoder) of the newest version that is whole and sound; None without one.

    Whole: all chunks are there and their SHA-256 is right. Sound: the tensors are a decoder, of the trained one's shape where that
    is given. Whatever else stands on the topic is passed over with a line on standard error; nothing ends the reading.
    """
    version, chunks, held, best = None, {}, 0, None
    for key, value in found:
        name, mark, number = (key or b"").decode("utf-8", "replace").rpartition("#")
        if value is None:
            continue
        if mark and number.isdecimal() and name == site:
            if len(value) < CHUNK_HEADER.size:
                continue
            layout, of_version, index = CHUNK_HEADER.unpack_from(value)
            if layout == 1 and str(index) == number:
                if of_version != version:
                    version, chunks, held = of_version, {}, 0
                held += len(value) - len(chunks.get(index, b""))
                chunks[index] = value
                if held > 2 * LARGEST:
                    version, chunks, held = None, {}, 0  # no artefact is as large
            continue
        if (key or b"").decode("utf-8", "replace") != site:
            continue
        try:
            manifest = manifest_of(value)
        except ValueError as error:
            refused(site, f"has a record that is no manifest: {error}")
            continue
        called = f"version {manifest['version']}"
        if manifest["schema"] not in (WEIGHTS, FACTORS):
            refused(site, f"{called} passed over: schema {manifest['schema']}")
            continue
        whole = manifest["version"] == version and len(chunks) == manifest["chunks"] and max(chunks) == len(chunks) - 1
        if not whole or (parent is not None and manifest["parent_sha256"] != parent):
            continue
        blob = b"".join(chunks[index][CHUNK_HEADER.size :] for index in range(len(chunks)))
        version, chunks, held = None, {}, 0
        sha256 = manifest["sha256" if manifest["schema"] == WEIGHTS else "artefact_sha256"]
        if len(blob) != manifest["bytes"] or hashlib.sha256(blob).hexdigest() != sha256:
            refused(site, f"{called} is not served: its bytes are not those of its manifest")
            continue
        if best is not None and manifest["version"] <= best[0]["version"]:
            continue
        try:
            best = manifest, decoder_of(manifest, blob, trained)
        except ValueError as error:
            refused(site, f"{called} is not served: {error}")
    return best


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
        decoder = newest(records(consumer, options.topic), options.site, trained and identity(trained), trained)
    finally:
        consumer.close()
    if decoder is None:
        print(f"{options.site}: no whole decoder for this parent on {options.topic}", file=sys.stderr)
        return 3
    manifest, tensors = decoder
    features, dimension = tensors["W_dec"].shape
    print(
        f"{options.site} version {manifest['version']} ({manifest['kind']}): {features} features x {dimension},"
        f" {tensors['W_dec'].dtype}, sha256 {manifest['sha256']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
