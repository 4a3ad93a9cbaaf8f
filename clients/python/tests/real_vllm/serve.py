"""Serves a tiny model over HTTP, with the plugin and PLUMBLINE_VLLM, and checks names, tags and rows of what comes.

python serve.py BOOTSTRAP [tp]
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from models import Oracle, error, make
from topics import create, requests

PORT = 18_651
SITES = {"l0": "blocks.0.hook_resid_pre", "l1": "blocks.1.hook_resid_post", "l3": "blocks.3.hook_resid_post"}


def start(path: str, settings: dict[str, Any], ranks: int) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "PLUMBLINE_VLLM": json.dumps(settings),
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
    }
    if ranks > 1:
        environment["VLLM_CPU_OMP_THREADS_BIND"] = "|".join(map(str, range(ranks)))
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", path]
    options = {"host": "127.0.0.1", "port": PORT, "served-model-name": "tiny", "max-model-len": 512, "dtype": "float32"}
    options |= {"max-num-seqs": 16, "tensor-parallel-size": ranks}
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return subprocess.Popen([*command, "--enforce-eager", "--no-enable-prefix-caching"], env=environment)


def ask(path: str, body: dict[str, Any] | None = None, name: str = "", timeout: float = 120.0) -> Any:
    headers = {"content-type": "application/json", **({"X-Request-Id": name} if name else {})}
    data = None if body is None else json.dumps({"model": "tiny", **body}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/{path}", data, headers)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return answer.read()


def wait_for(server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError):
            ask("health")
            return
        if server.poll() is not None:
            sys.exit(f"the server ended with {server.returncode}")
        time.sleep(1)
    sys.exit("the server did not start in ten minutes")


def main() -> None:
    bootstrap, *how = sys.argv[1:]
    ranks = 2 if "tp" in how else 1
    path = make("llama", Path(os.environ.get("PLUMBLINE_MODELS") or tempfile.mkdtemp()))
    topic = create(bootstrap, "serve")
    settings = {"kafka": {"bootstrap.servers": bootstrap}, "topic": topic, "sites": SITES}
    server = start(path, settings, ranks)
    try:
        began = time.time()
        wait_for(server)
        print(f"up after {time.time() - began:.0f} s")
        greedy = {"temperature": 0, "ignore_eos": True}
        tags = {"plumbline.tags": "tenant=acme"}
        ask("v1/completions", {"prompt": "Grüße, world", "max_tokens": 5, "vllm_xargs": tags, **greedy}, "req-A")
        chat = [{"role": "user", "content": "hello there"}]
        ask("v1/chat/completions", {"messages": chat, "max_tokens": 4, **greedy}, "req-B")
        two = {"prompt": ["one", "two, and three"], "n": 2, "temperature": 1, "max_tokens": 4, "ignore_eos": True}
        ask("v1/completions", two, "req-C")
        long = {"prompt": "to be cut off", "max_tokens": 450, "stream": True, **greedy}
        with contextlib.suppress(OSError):
            request = urllib.request.Request(
                f"http://127.0.0.1:{PORT}/v1/completions",
                json.dumps({"model": "tiny", **long}).encode(),
                {"content-type": "application/json", "X-Request-Id": "req-D"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read(200)  # and no more: the client goes
        time.sleep(2)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    oracle, worst, rows, names = Oracle(path), 0.0, 0, {}
    for (site, name), found in requests(bootstrap, topic).items():
        wanted = oracle(found.ids)[SITES[site]]
        assert len(wanted) == len(found.rows()), (site, name)
        worst = max(worst, error(found.rows(), wanted))
        rows += len(wanted)
        names[name] = (found.headers.get("tags"), len(wanted))
    for name, (tag, count) in sorted(names.items()):
        print(f"  {name}: {count} rows, tags {tag}")
    print(f"RESULT serve, {ranks} ranks: {len(names)} requests, {rows} rows, worst {worst:.1e}")
    clients = [name for letter in "ABCD" for name in names if f"req-{letter}" in name]
    tagged = [name for name, (tag, _) in names.items() if tag == "tenant=acme"]
    sys.exit(0 if worst < 1e-5 and len(clients) == 7 and len(tagged) == 1 else 1)


if __name__ == "__main__":
    main()
