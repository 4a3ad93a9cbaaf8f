"""What a capture costs the forward pass: a random GPT-2 of d = 768, with hooks and without, in turn.

    PYTHONPATH=src python benchmarks/hook_overhead.py

`hook` is the copy alone, with a producer that throws rows away; `sent` is with everything that the thread does but the
network: encoding and compression share the processor with the model.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
import transformers

from plumbline_sae.capture import capture

LAYERS, ROUNDS = 4, 9


class Nothing:
    """A producer that throws rows away."""

    def send(self, *arguments: Any, **options: Any) -> bool:
        return True

    def count_dropped(self, *arguments: Any) -> None: ...

    def flush(self, timeout: float = 10.0) -> int:
        return 0


def encoded() -> Any:
    from plumbline_sae import Producer

    return Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0}, max_buffered_bytes=8 << 20)


def main() -> None:
    config = transformers.GPT2Config(n_embd=768, n_head=12, n_layer=LAYERS, vocab_size=8_000)
    model = transformers.GPT2Model(config).eval()
    for batch, tokens in ((8, 128), (32, 128), (8, 32)):
        ids = torch.randint(0, 8_000, (batch, tokens))
        names = [f"request-{i}" for i in range(batch)]

        def forward(ids: Any = ids) -> float:
            begin = time.perf_counter()
            model(input_ids=ids)
            return time.perf_counter() - begin

        took: dict[str, list[float]] = {"bare": [], "hook": [], "sent": []}
        with torch.no_grad():
            forward()
            for _ in range(ROUNDS):
                took["bare"].append(forward())
                for kind, producer in (("hook", Nothing()), ("sent", encoded())):
                    with capture(model, producer, {"residual": f"h.{LAYERS // 2}"}) as captured, captured.batch(names):
                        took[kind].append(forward())
        bare = statistics.median(took["bare"])
        said = ", ".join(
            f"{kind} {100 * (statistics.median(took[kind]) / bare - 1):+.1f} %" for kind in ("hook", "sent")
        )
        print(f"{batch} x {tokens} tokens, {LAYERS} layers, one site: bare {1000 * bare:.1f} ms, {said}")


if __name__ == "__main__":
    main()
