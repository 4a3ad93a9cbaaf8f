"""A backend of hs-connectors that sends to Plumbline what it hands to a training: `--hidden-states-backend kafka`.

vLLM writes files with its own connector, as for the backend `file`. Whoever reads them sends the rows of the watched
layers on, so that a training of a speculator on a served model watches that model's sites without a second server.
Importing this module registers the backend; a program that reads the registry has to import it first:

    import plumbline_sae.hs_backend

Nothing that goes wrong on the way to Kafka reaches the training: it is counted, and the first time it is logged.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from hs_connectors import FileBackend, HiddenStatesBackend, HiddenStatesTransfer

from .layers import LayersOfFile, layer_ids_of, places_in
from .producer import Producer
from .tensors import tensor_of

_LOG = logging.getLogger(__name__)


def _pairs(option: str, texts: Sequence[str], example: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{option} {text}: expected {example}")
        found[name] = value
    return found


class KafkaTransfer(HiddenStatesTransfer):
    """Hands over what another transfer reads, and sends it to Plumbline.

    What was cached before is handed over and not sent: the model did not serve it now. The producer is made when the
    first sample comes, in the process of the data loader that reads it.

    Args:
        inner: reads the samples.
        config: configuration of `confluent_kafka.Producer`.
        hooks: for each site its place, such as `blocks.5.hook_resid_post`.
        layer_ids: vLLM's numbers of the layers in a sample, in their order; default: those of the sites, ascending.
        topic: where activations go.

    Raises:
        ValueError: when a hook is no place that vLLM hands out, or not among the layers.
    """

    def __init__(
        self,
        inner: HiddenStatesTransfer,
        config: dict[str, Any],
        hooks: dict[str, str],
        *,
        layer_ids: Sequence[int] | None = None,
        topic: str = "activations",
    ) -> None:
        self._inner = inner
        self._config = config
        self._hooks = hooks
        self._layer_ids = layer_ids_of(hooks) if layer_ids is None else list(layer_ids)
        places_in(hooks, self._layer_ids)
        self._topic = topic
        self._producer: Producer | None = None
        self._failed = 0

    @property
    def producer(self) -> Producer:
        """Returns what sends, for its `stats` and `flush`."""
        if self._producer is None:
            self._producer = Producer(self._config, self._topic)
            Finalize(None, self._producer.flush, exitpriority=1)  # also at the end of a data loader's process
        return self._producer

    @property
    def failed(self) -> int:
        """Returns how many samples could not be sent."""
        return self._failed

    def setup(self) -> None:
        self._inner.setup()

    def get_cached(self, file_idx: int) -> Any:
        return self._inner.get_cached(file_idx)

    def get_generated(self, hs_transfer_params: dict[str, Any]) -> Any:
        sample = self._inner.get_generated(hs_transfer_params)
        if sample is not None:
            try:
                self._send(hs_transfer_params, sample)
            except Exception as error:
                self._failed += 1
                if self._failed == 1:
                    _LOG.warning("hidden states are not sent: %s; further ones are counted and not logged", error)
        return sample

    def delete(self, handle: str) -> None:
        self._inner.delete(handle)

    def _send(self, hs_transfer_params: dict[str, Any], sample: dict[str, Any]) -> None:
        handle = hs_transfer_params.get("hidden_states_path") or hs_transfer_params.get("handle")
        sender = LayersOfFile(self._hooks, self.producer, self._layer_ids, "tail", {"engine": "vllm"})
        names = ("hidden_states", "token_ids")
        sender.send(Path(str(handle)).stem, {name: tensor_of(sample[name]) for name in names if name in sample})


@HiddenStatesBackend.register("kafka")
class KafkaBackend(HiddenStatesBackend):
    """Files as the backend `file` has them, and their rows on a topic."""

    @staticmethod
    def add_train_args(parser: argparse.ArgumentParser) -> None:
        FileBackend.add_train_args(parser)
        parser.add_argument("--plumbline-bootstrap-servers", default="localhost:9092", help="brokers, HOST:PORT,...")
        parser.add_argument("--plumbline-topic", default="activations", help="where activations go")
        parser.add_argument(
            "--plumbline-site",
            action="append",
            default=[],
            metavar="SITE=HOOK",
            help="a watched layer, such as residual.5=blocks.5.hook_resid_post; may be repeated",
        )
        parser.add_argument(
            "--plumbline-layers",
            default=None,
            metavar="N,N",
            help="vLLM's numbers of all layers it hands out, in their order; default: those of the sites, ascending",
        )
        parser.add_argument(
            "--plumbline-kafka-property", action="append", default=[], metavar="KEY=VALUE", help="may be repeated"
        )

    @staticmethod
    def add_launch_args(parser: argparse.ArgumentParser) -> None:
        FileBackend.add_launch_args(parser)

    @staticmethod
    def from_train_args(args: argparse.Namespace, data_path: str) -> KafkaTransfer:
        example = "SITE=HOOK, such as residual.5=blocks.5.hook_resid_post"
        hooks = _pairs("--plumbline-site", args.plumbline_site, example)
        if not hooks:
            raise ValueError(f"the backend kafka sends no layer: write --plumbline-site {example}")
        named = args.plumbline_layers
        properties = _pairs("--plumbline-kafka-property", args.plumbline_kafka_property, "KEY=VALUE")
        return KafkaTransfer(
            FileBackend.from_train_args(args, data_path),
            {"bootstrap.servers": args.plumbline_bootstrap_servers, **properties},
            hooks,
            layer_ids=None if named is None else [int(number) for number in named.split(",")],
            topic=args.plumbline_topic,
        )

    @staticmethod
    def build_kv_transfer_config(args: argparse.Namespace) -> dict[str, Any]:
        return dict(FileBackend.build_kv_transfer_config(args))
