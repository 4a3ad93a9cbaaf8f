"""What a capture costs the forward pass of a random GPT-2 of d = 768, in processor time on one thread.

    PYTHONPATH=src python benchmarks/hook_overhead.py

`hook` is what the calling thread spends on a capture. It is measured on a module that does nothing but hand over hidden
states of the same shape: on a busy machine two forward passes differ by more than a hook costs. `thread` is what the
capture's own thread and the Kafka client spend beside it: it costs the model nothing where a core is free.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
import transformers

from plumbline_sae import Producer
from plumbline_sae.capture import capture

LAYERS, WIDTH, FORWARDS, CALLS = 6, 768, 7, 40


class Shell(torch.nn.Module):
    """A model whose forward pass costs nothing."""

    def __init__(self, hidden: Any) -> None:
        super().__init__()
        self.place = torch.nn.Identity()
        self.hidden = hidden

    def forward(self, input_ids: Any) -> Any:
        return self.place(self.hidden)


def main() -> None:
    torch.set_num_threads(1)
    config = transformers.GPT2Config(n_embd=WIDTH, n_head=12, n_layer=LAYERS, vocab_size=8_000)
    model = transformers.GPT2Model(config).eval()
    for batch, tokens in ((1, 16), (4, 32), (4, 128)):
        ids = torch.randint(0, 8_000, (batch, tokens))
        names = [f"request-{i}" for i in range(batch)]
        with torch.no_grad():
            model(input_ids=ids)
            took = []
            for _ in range(FORWARDS):
                begin = time.thread_time()
                model(input_ids=ids)
                took.append(time.thread_time() - begin)
            bare = statistics.median(took)
            shell = Shell(torch.randn(batch, tokens, WIDTH))
            producer = Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0}, max_buffered_bytes=1 << 30)
            begin = time.thread_time()
            for _ in range(CALLS):
                shell(input_ids=ids)
            nothing = time.thread_time() - begin
            with capture(shell, producer, {"residual": "place"}) as taken:
                begin, every = time.thread_time(), time.process_time()
                for _ in range(CALLS):
                    with taken.batch(names):
                        shell(input_ids=ids)
                hook = time.thread_time() - begin
                taken.drain()
                thread = time.process_time() - every - (time.thread_time() - begin)
        assert taken.stats.rows == CALLS * batch * tokens, taken.stats
        print(
            f"{batch} x {tokens} tokens, {LAYERS} layers, one site: bare {1000 * bare:.1f} ms,"
            f" hook {1000 * (hook - nothing) / CALLS:.2f} ms ({100 * (hook - nothing) / CALLS / bare:.1f} %),"
            f" thread {1000 * thread / CALLS:.2f} ms ({100 * thread / CALLS / bare:.1f} %)"
        )


if __name__ == "__main__":
    main()
