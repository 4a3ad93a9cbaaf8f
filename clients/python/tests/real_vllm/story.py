"""Serves the worked example's model, watches it with the real monitor, and checks the whole way round.

    python story.py BOOTSTRAP

Normal traffic and a baseline of it, other traffic, drift, a refit that passes the gate, its decoder in the serving
worker, and the next answer through it; normal traffic, and the trained decoder again; names of clients in a report.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from serve import PORT, start, wait_for
from topics import requests

from plumbline_sae import Decoder, DecoderSubscriber, Trained
from plumbline_sae.tensors import Array, decode

ROOT = Path(__file__).resolve().parents[4]
RECORDS = 3_300
"""Requests that the baseline is made of."""
PATIENCE_S = 300
MONITOR_PORT = 18_652
TOPICS = (
    "activations",
    "moments",
    "window_reports",
    "model_windows",
    "adaptation_requests",
    "adaptation_reports",
    "decoders",
    "dead_letters",
)


def example() -> Any:
    """Returns the worked example as a module."""
    file = ROOT / "clients/python/examples/tiny_served_model.py"
    spec = importlib.util.spec_from_file_location("tiny_served_model", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plumbline(*arguments: str) -> None:
    """Runs a command of the product."""
    done = subprocess.run([ROOT / "plumbline", *arguments], capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"plumbline {arguments[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Ends a process, whatever comes."""
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Story:
    """A served model and its monitor: what is asked of the one, and what the other says."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        self.example = example()
        self.site = self.example.SITE
        self.example.make(folder)
        self.sae = folder / "sae"
        self.weights = {
            name: tensor.widened()
            for name, tensor in decode((self.sae / "sae_weights.safetensors").read_bytes()).items()
        }
        suffix = f"-{time.time_ns() % 10**9}"
        self.topics = {name: name + suffix for name in TOPICS}
        self.settings = json.loads((folder / "vllm.json").read_text())
        self.settings["kafka"]["bootstrap.servers"] = bootstrap
        self.settings |= {"topic": self.topics["activations"], "decoders": {"topic": self.topics["decoders"]}}
        self.config = folder / "plumbline.yaml"
        names = {"application_id": f"story{suffix}", "topics": self.topics, "http": {"port": MONITOR_PORT}}
        said = "".join(f"{key}: {json.dumps(value)}\n" for key, value in names.items())
        self.config.write_text(self.config.read_text().replace("localhost:9092", bootstrap) + said)
        self._asked: dict[str, int] = {}
        self._consumer: Consumer | None = None
        self.reports: list[dict[str, Any]] = []

    def ask(self, language: str, count: int) -> None:
        """Asks what was not asked before."""
        first = self._asked.get(language, 0)
        self._asked[language] = first + count
        with contextlib.redirect_stdout(None):
            self.example.ask(f"http://127.0.0.1:{PORT}", language, count, first)

    def listen(self) -> list[dict[str, Any]]:
        """Returns the reports that came since the last call, and prints a line of each."""
        if self._consumer is None:
            self._consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "story"})
            self._consumer.assign([TopicPartition(self.topics["window_reports"], 0, 0)])
        came = []
        while (message := self._consumer.poll(0.3)) is not None:
            if message.error() or not message.value():
                continue
            report = json.loads(message.value())
            came.append(report)
            value, threshold = report["trigger_value"], report["threshold"]
            told = f", {report['trigger']} {value:.3g} of {threshold:.3g}" if value and threshold else ""
            fvu = report["reconstruction_fvu"]
            print(
                f"  {time.strftime('%H:%M:%S', time.gmtime(report['window_start_ms'] / 1000))}"
                f" {report['requests']} requests: {report['verdict']}{told};"
                f" decoder {report['decoder_version']}, FVU {'-' if fvu is None else format(fvu, '.3f')}",
                flush=True,
            )
        self.reports += came
        return came

    def until(self, traffic: Callable[[], None], done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Makes traffic until a window that began after it says what is waited for; returns its report."""
        began = time.time()
        while time.time() < began + PATIENCE_S:
            traffic()
            for report in self.listen():
                if report["window_start_ms"] >= 1000 * began and done(report):
                    return report
        sys.exit(f"no such window in {PATIENCE_S} s")

    def until_published(self, language: str, decoders: DecoderSubscriber) -> Decoder:
        """Asks in a language until a decoder is published; returns it."""
        began = time.time()
        while time.time() < began + PATIENCE_S:
            self.ask(language, 20)
            self.listen()
            decoder = decoders.poll(0.1)
            if decoder is not None:
                print(
                    f"decoder {decoder.version}, {decoder.kind}, {time.time() - began:.0f} s after the first {language}"
                )
                return decoder
        sys.exit(f"no decoder in {PATIENCE_S} s")

    def answered(self, language: str, W_dec: Array, b_dec: Array) -> tuple[str, float, float]:
        """Asks once; returns the tags of the answer, how far it is from a decoder's, and its FVU."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "story"})
        end = consumer.get_watermark_offsets(TopicPartition(self.topics["activations"], 0), 10)[1]
        consumer.close()
        self.ask(language, 1)
        ((_, found),) = requests(self.bootstrap, self.topics["activations"], end).items()
        rows, read = found.rows().astype("float64"), found.rows("reconstructions")
        codes = np.maximum(rows @ self.weights["W_enc"] + self.weights["b_enc"], 0)
        wanted = codes @ W_dec + b_dec
        far = float((np.linalg.norm(read - wanted, axis=1) / np.linalg.norm(wanted, axis=1)).max())
        kept = rows[1:]  # without <s>
        fvu = float(np.square(kept - read[1:]).sum() / np.square(kept - kept.mean(0)).sum())
        return found.headers["tags"], far, fvu


def clients(report: dict[str, Any]) -> list[str]:
    """Returns the names that clients gave the farthest requests: `cmpl-NAME-0-8c82ca44` is `NAME`."""
    return [str(worst["request"]).removeprefix("cmpl-").rsplit("-", 2)[0] for worst in report["worst_requests"]]


def main() -> None:
    story = Story(sys.argv[1], Path(tempfile.mkdtemp()))
    trained = (story.weights["W_dec"], story.weights["b_dec"])
    plumbline("topics", "--config", str(story.config), "--create", "--partitions", "1")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(ended(start(str(story.config.parent / "model"), story.settings, 1)))
        wait_for(server)
        began = time.time()
        for language in ("english", "german"):
            story.ask(language, RECORDS // 2)
        print(f"{RECORDS} requests served in {time.time() - began:.0f} s")
        began = time.time()
        out = str(story.config.parent / "baseline.safetensors")
        plumbline("baseline", "--config", str(story.config), "--from-topic", "--site", story.site, "--out", out)
        print(f"RESULT baseline of {RECORDS} records: {time.time() - began:.0f} s", flush=True)
        stack.enter_context(ended(subprocess.Popen([ROOT / "plumbline", "run", "--config", str(story.config)])))
        decoders = stack.enter_context(
            DecoderSubscriber(
                {"bootstrap.servers": story.bootstrap},
                {story.site: Trained.of(story.sae)},
                topic=story.topics["decoders"],
            )
        )

        story.until(lambda: story.ask("german", 20), lambda report: bool(report["verdict"] == "aligned"))
        adapted = story.until_published("russian", decoders)
        time.sleep(1)
        tags, far, fvu = story.answered("russian", adapted.W_dec, adapted.b_dec)
        print(
            f"RESULT next answer: tags {tags}, {far:.1e} from decoder {adapted.version}, FVU {fvu:.3f};"
            f" {adapted.lineage['candidate']}",
            flush=True,
        )
        assert f"decoder={adapted.version}" in tags
        assert far < 1e-4
        served = story.until(
            lambda: story.ask("russian", 20),
            lambda report: report["decoder_version"] == adapted.version and report["reconstruction_fvu"] is not None,
        )
        print(
            f"RESULT in service: FVU {served['reconstruction_fvu']:.3f}, of the trained decoder"
            f" {served['reconstruction_fvu_trained']:.3f}; farthest requests of the window, by their clients:"
            f" {', '.join(clients(served))}"
        )
        assert served["reconstruction_fvu"] < 0.5 * served["reconstruction_fvu_trained"]

        returned = story.until_published("german", decoders)
        assert returned.kind == "trained"
        time.sleep(1)
        tags, far, _ = story.answered("german", *trained)
        print(f"RESULT trained decoder again: tags {tags}, {far:.1e} from it", flush=True)
        assert f"decoder={returned.version}" in tags
        assert far < 1e-4

        def mixed() -> None:
            story.ask("german", 40)
            story.ask("russian", 1)

        few = story.until(mixed, lambda report: any("russian" in name for name in clients(report)))
        address = f"http://127.0.0.1:{MONITOR_PORT}/api/sites/{story.site}/reports"
        page = json.loads(urllib.request.urlopen(address, timeout=30).read())["newest"]
        print(
            f"RESULT one in 41 in Russian: {few['verdict']}, {few['reason']}; farthest requests, by their clients:"
            f" {', '.join(clients(few))}",
            flush=True,
        )
        assert clients(page) == clients(few)
        assert "russian" in clients(few)[0]


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
