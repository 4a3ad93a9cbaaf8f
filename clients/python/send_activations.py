#!/usr/bin/env python3
"""Sends activations of a model to Plumbline: one Kafka record a request, a safetensors blob as its value.

Needs numpy, safetensors and confluent-kafka; torch only in your own process. `publish` is the part to copy into a model
server. The command sends an .npz file request by request, to try the way from a file to a window report:

    send_activations.py --bootstrap-servers localhost:9092 --site encoder.layer.2 requests.npz

In the file each request is an array [tokens, width]; `NAME.special`, where it is there, is an array of booleans [tokens]
that says which of its tokens are special (BOS, CLS, SEP, padding).
"""

import argparse
import sys
import time

import numpy as np
from confluent_kafka import Producer
from safetensors.numpy import save


# README begins
def publish(producer, topic, site, request, hidden_states, special=None, token_ids=None, event_time_ms=None):
    """One request: its rows [tokens, width], as float16, float32 or float64.

    special      booleans [tokens], as a tokenizer's special_tokens_mask: these rows are left out. One BOS or CLS row can
                 carry most of the energy of a window.
    token_ids    integers [tokens], instead of that: the site's `mask: {token_ids: [...]}` then decides in one place.
    """
    rows, ids = np.asarray(hidden_states), None if token_ids is None else np.asarray(token_ids, dtype=np.int64)
    if special is not None:
        keep = ~np.asarray(special, dtype=bool)
        rows, ids = rows[keep], None if ids is None else ids[keep]
    if len(rows) == 0:
        return  # a record without rows would be a dead letter
    tensors = {"activations": np.ascontiguousarray(rows)}  # a transcoder's site also needs "targets" [tokens, d_out]
    if ids is not None:
        tensors["token_ids"] = np.ascontiguousarray(ids)
    producer.produce(
        topic,
        value=save(tensors),
        key=request,  # spreads a site over the partitions; any key will do
        headers={"site": site, "request": request},
        timestamp=event_time_ms or int(time.time() * 1000),
        on_delivery=report,
    )
    producer.poll(0)  # lets `report` run; never waits


def report(error, message):
    if error is not None:  # the model goes on serving; count it and look at it
        print(f"not stored on {message.topic()}: {error}", file=sys.stderr)
        report.failures += 1


report.failures = 0

# With torch, where the model server answers a batch. `detach().float()` because numpy has no bfloat16:
#
#   def hook(module, inputs, output):
#       hidden = (output[0] if isinstance(output, tuple) else output).detach().float().cpu().numpy()
#       for i, request in enumerate(batch.request_ids):
#           publish(producer, "activations", SITE, request, hidden[i], special=batch.special_tokens_mask[i])
#   model.encoder.layer[2].register_forward_hook(hook)
# README ends


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="Exit code 3 when a record was not stored."
    )
    parser.add_argument("file", help=".npz file: an array [tokens, width] for each request, booleans NAME.special")
    parser.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT")
    parser.add_argument("--site", required=True, help="as in plumbline.yaml")
    parser.add_argument("--topic", default="activations", help="default: %(default)s")
    parser.add_argument("--start-ms", type=int, help="event time of the first request, ms since 1970; default: now")
    parser.add_argument("--step-ms", type=int, default=0, help="event time between requests; default: %(default)s")
    options = parser.parse_args()

    producer = Producer({
        "bootstrap.servers": options.bootstrap_servers,
        "acks": "all",
        "enable.idempotence": True,  # a retry sends nothing twice
        "compression.type": "zstd",
        "linger.ms": 50,
        "message.timeout.ms": 60000,
    })
    start = int(time.time() * 1000) if options.start_ms is None else options.start_ms
    with np.load(options.file) as arrays:
        requests = [name for name in arrays.files if not name.endswith(".special")]
        for i, request in enumerate(requests):
            special = arrays[f"{request}.special"] if f"{request}.special" in arrays.files else None
            publish(
                producer,
                options.topic,
                options.site,
                request,
                arrays[request],
                special=special,
                event_time_ms=start + i * options.step_ms,
            )
    unsent = producer.flush(70)
    print(f"{len(requests)} requests, {unsent + report.failures} of them not stored")
    return 3 if unsent or report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
