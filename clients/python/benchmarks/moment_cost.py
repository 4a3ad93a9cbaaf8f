"""What a row costs in a MomentAccumulator on one core, by numpy and by torch, beside encoding it as it is.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=src python benchmarks/moment_cost.py

It takes processor time, which is nearly the same on a busy machine.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from plumbline_sae import Accumulation, MomentAccumulator, Producer
from plumbline_sae.tensors import encode, tensor_of

BATCH = 256


def main() -> None:
    import torch

    torch.set_num_threads(1)
    for width, batches in ((768, 24), (2048, 10), (4096, 4)):
        rows = np.random.default_rng(1).standard_normal((BATCH, width)).astype("float32")
        kinds: dict[str, Any] = {
            "numpy": rows,
            "torch": torch.from_numpy(rows),
            "torch bfloat16": torch.from_numpy(rows).bfloat16(),
        }
        said = []
        for kind, given in kinds.items():
            options = {"bootstrap.servers": "127.0.0.1:1", "message.max.bytes": 900_000_000, "log_level": 0}
            producer = Producer(options, max_buffered_bytes=1 << 30)
            moments = MomentAccumulator(producer, {"a": Accumulation(60_000, sample_rows=512)}, linger_ms=10**9)
            moments.send("a", "r", given, timestamp_ms=0)
            begin = time.process_time()
            for _ in range(batches):
                assert moments.send("a", "r", given, timestamp_ms=0)
            said.append(f"{kind} {1e6 * (time.process_time() - begin) / (batches * BATCH):.1f}")
            begin = time.process_time()
            pane = next(iter(moments._panes.values()))
            size = len(encode(pane.tensors()))
            closing = time.process_time() - begin
        begin = time.process_time()
        for _ in range(batches):
            encode({"activations": tensor_of(rows)})
        as_rows = 1e6 * (time.process_time() - begin) / (batches * BATCH)
        print(
            f"d = {width}: us a row: {', '.join(said)}, encoding rows {as_rows:.1f}; a record of {size / 1e6:.1f} MB is"
            f" encoded in {1000 * closing:.0f} ms and equals {size / (4 * width):.0f} float32 rows"
        )


if __name__ == "__main__":
    main()
