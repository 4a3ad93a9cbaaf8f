"""The settings of a worker in vLLM: one checked object, from `--additional-config` or from PLUMBLINE_VLLM."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from ..settings import Accumulation, Mask
from .places import Place

VARIABLE = "PLUMBLINE_VLLM"
"""The environment variable with the settings: JSON, or the name of a file with JSON."""

KEY = "plumbline"
"""The key of the settings in vLLM's `additional_config`."""

GRAPH_KEY = "plumbline_graph"
"""The key of what changes the compiled graph, in vLLM's `additional_config`: vLLM's compile cache goes by it."""

_SHOWN = 60


@dataclass(frozen=True)
class WatchedSite:
    """A site and where its rows are taken.

    Attributes:
        at: the place of the activations.
        targets: the place of a transcoder's targets, or None.
        mask: rows that enter no moment; not used where rows are sent.
    """

    at: Place
    targets: Place | None = None
    mask: Mask = field(default_factory=Mask)

    @property
    def places(self) -> tuple[Place, ...]:
        """Returns the places that give the site's rows."""
        return (self.at,) if self.targets is None else (self.at, self.targets)


@dataclass(frozen=True)
class Moments:
    """How rows are added up where moments are sent.

    Attributes:
        pane_ms: length of a pane.
        sample_rows: raw rows that travel with a moment, at most.
        f32: whether a moment travels as float32.
        request_totals: requests whose names and sums travel with a moment, at most; 0 sends none.
        max_bytes: bytes of open panes, on the device that computes the rows; beyond them the oldest leaves.
    """

    pane_ms: int
    sample_rows: int = 4_096
    f32: bool = False
    request_totals: int = 1_024
    max_bytes: int = 2 << 30


@dataclass(frozen=True)
class Features:
    """An explainer whose codes are sent beside the rows.

    Attributes:
        path: its folder, as SAELens writes it.
        top: codes of a row that are sent.
    """

    path: str
    top: int = 32


@dataclass(frozen=True)
class Decoders:
    """Where decoders come from, and whose they are.

    Attributes:
        topic: where they are published.
        attach: `module:function` of hooks in the model; it is called with the loaded model, and returns the weights
            that decoders are copied into, a `Hooked` by site.
        keys: files of public keys in PEM; one of them must have signed a decoder; None checks no signatures.
    """

    topic: str = "decoders"
    attach: str | None = None
    keys: list[str] | None = None


@dataclass(frozen=True)
class Settings:
    """What the worker does.

    Attributes:
        kafka: configuration of `confluent_kafka.Producer`.
        sites: the watched sites by their names in plumbline.yaml.
        topic: where activations go.
        sample: share of requests that are captured, chosen by a hash of their names.
        special_ids: tokens whose rows are left out.
        part_rows: a request that has so many rows sends them before it ends.
        max_waiting_bytes: bytes of rows that may wait for the tap's thread and for the end of their requests.
        max_buffered_bytes: bytes that may wait for the broker.
        max_record_bytes: a longer request becomes several records.
        headers: sent with every record, such as `tags`.
        module_taps: whether taps give the residual stream, too, as where a speculator has the auxiliary outputs.
        moments: how rows are added up; None sends rows.
        features: explainers whose codes and reconstructions are sent beside the rows, by site.
        decoders: where decoders come from; None follows none.
    """

    kafka: Mapping[str, Any]
    sites: Mapping[str, WatchedSite]
    topic: str = "activations"
    sample: float = 1.0
    special_ids: tuple[int, ...] = ()
    part_rows: int = 512
    max_waiting_bytes: int = 256 << 20
    max_buffered_bytes: int = 64 << 20
    max_record_bytes: int = 900_000
    headers: Mapping[str, str] = field(default_factory=dict)
    module_taps: bool = False
    moments: Moments | None = None
    features: Mapping[str, Features] = field(default_factory=dict)
    decoders: Decoders | None = None

    def __post_init__(self) -> None:
        for name in self.features:
            if name not in self.sites:
                raise ValueError(f"features: {name} is not among the sites, {', '.join(self.sites)}")
            if self.moments is not None or self.sites[name].targets is not None:
                raise ValueError(f"features: {name}: codes are read from rows that are sent, of a site without targets")
        if not self.sites:
            raise ValueError('sites: expected at least one, as {"residual.5": "blocks.5.hook_resid_post"}')
        if "bootstrap.servers" not in self.kafka:
            raise ValueError('kafka: expected the brokers, as {"bootstrap.servers": "localhost:9092"}')
        if not 0.0 < self.sample <= 1.0:
            raise ValueError(f"sample = {self.sample}: expected a share above 0, at most 1")
        for name in ("part_rows", "max_waiting_bytes", "max_buffered_bytes", "max_record_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: expected at least 1")

    @property
    def aux_layers(self) -> tuple[int, ...]:
        """Returns vLLM's numbers of the auxiliary outputs, ascending, which is the order in which they come."""
        return tuple(sorted({place.layer for place in self._places() if self._is_aux(place)}))

    @property
    def tapped(self) -> tuple[Place, ...]:
        """Returns the places that taps give."""
        return tuple(sorted({place for place in self._places() if not self._is_aux(place)}))

    @property
    def graph(self) -> dict[str, Any]:
        """Returns what changes the compiled graph, as JSON has it."""
        return {"aux": list(self.aux_layers), "taps": [f"{place.kind}.{place.layer}" for place in self.tapped]}

    def accumulations(self) -> dict[str, Accumulation]:
        """Returns how each site's rows are added up."""
        if self.moments is None:
            return {}
        how = self.moments
        return {
            name: Accumulation(how.pane_ms, how.sample_rows, site.mask, how.f32, how.request_totals)
            for name, site in self.sites.items()
        }

    def _places(self) -> list[Place]:
        return [place for site in self.sites.values() for place in site.places]

    def _is_aux(self, place: Place) -> bool:
        """Returns whether an auxiliary output gives a place.

        What enters block 0 is tapped: its output is the tensor itself, into which a fused norm of block 0 adds.
        """
        return place.is_stream and place.layer > 0 and not self.module_taps


def find_settings(additional_config: Any) -> Settings | None:
    """Returns the settings in vLLM's configuration, else those of the environment, or None where there are none.

    Raises:
        ValueError: says which setting is wrong, and where it stands.
    """
    found = additional_config.get(KEY) if isinstance(additional_config, Mapping) else None
    where = f"additional_config.{KEY}"
    if found is None:
        found, where = os.environ.get(VARIABLE) or None, VARIABLE
    if found is None:
        return None
    try:
        return read_settings(_parsed(found) if isinstance(found, str) else found)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _parsed(text: str) -> Any:
    """Returns the JSON in a text, or in the file that the text names."""
    if not text.lstrip().startswith("{"):
        try:
            text = Path(text).read_text()
        except OSError as error:
            raise ValueError(
                f"{text[:_SHOWN]!r} is neither JSON nor a file that can be read ({error.strerror})"
            ) from None
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None


def read_settings(found: Any) -> Settings:
    """Returns checked settings of a JSON object.

    Raises:
        ValueError: says which setting is wrong.
    """
    given = _object("the settings", found, [known.name for known in fields(Settings)])
    for name in ("kafka", "sites"):
        if name not in given:
            raise ValueError(f"{name}: is missing")
    values = {name: _typed(name, value) for name, value in given.items()}
    values["sites"] = {name: _site(name, where) for name, where in _object("sites", given["sites"]).items()}
    if given.get("moments") is not None:
        values["moments"] = _moments(given["moments"])
    found = _object("features", given.get("features", {}))
    values["features"] = {name: _built(f"features.{name}", Features, what) for name, what in found.items()}
    if given.get("decoders") is not None:
        values["decoders"] = _built("decoders", Decoders, given["decoders"])
        attach = values["decoders"].attach
        if attach is not None and not re.fullmatch(r"[\w.]+:\w+", attach):
            raise ValueError(f"decoders.attach = {attach[:_SHOWN]}: expected module:function")
        keys = values["decoders"].keys
        if keys is not None and not (keys and all(isinstance(file, str) for file in keys)):
            raise ValueError(f"decoders.keys = {str(keys)[:_SHOWN]}: expected files of public keys")
    return Settings(**values)


_TYPES: dict[str, tuple[type, ...]] = {
    "topic": (str,),
    "sample": (int, float),
    "part_rows": (int,),
    "max_waiting_bytes": (int,),
    "max_buffered_bytes": (int,),
    "max_record_bytes": (int,),
    "module_taps": (bool,),
}


def _typed(name: str, value: Any) -> Any:
    expected = _TYPES.get(name)
    if expected is not None and (not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected)):
        raise ValueError(f"{name} = {str(value)[:_SHOWN]}: expected {' or '.join(kind.__name__ for kind in expected)}")
    if name == "special_ids":
        return _ids(name, value)
    if name in ("kafka", "headers"):
        pairs = _object(name, value)
        return {key: str(text) for key, text in pairs.items()} if name == "headers" else pairs
    return value


def _site(name: str, where: Any) -> WatchedSite:
    try:
        if isinstance(where, str):
            return WatchedSite(Place.of(where))
        given = _object("expected a hook's name, or an object; it", where, ["at", "targets", "mask"])
        if "at" not in given:
            raise ValueError('expected "at", the place of the activations')
        targets = given.get("targets")
        mask = _mask(given["mask"]) if "mask" in given else Mask()
        return WatchedSite(Place.of(str(given["at"])), None if targets is None else Place.of(str(targets)), mask)
    except ValueError as error:
        raise ValueError(f"site {name}: {error}") from None


def _mask(found: Any) -> Mask:
    given = _object("mask", found, ["token_ids", "norm", "norm_cap", "baseline"])
    ids = _ids("mask.token_ids", given.get("token_ids", []))
    if "baseline" in given:
        return Mask.of_baseline(str(given["baseline"]), float(given.get("norm_cap", 0)), ids)
    norm = given.get("norm")
    return Mask(tuple(sorted(set(ids))), None if norm is None else float(norm))


def _moments(found: Any) -> Moments:
    moments = _built("moments", Moments, found)
    # Refuses what no pane can be.
    Accumulation(moments.pane_ms, moments.sample_rows, request_totals=moments.request_totals)
    if moments.max_bytes < 1:
        raise ValueError(f"moments.max_bytes = {moments.max_bytes}: expected at least 1")
    return moments


_Part = TypeVar("_Part", Moments, Features, Decoders)
_PART_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "str | None": (str, type(None)),
    "list[str] | None": (list, type(None)),
}


def _built(name: str, kind: type[_Part], found: Any) -> _Part:
    """Returns a part of the settings, whose fields have the types that its class says."""
    known = {part.name: part for part in fields(kind)}
    given = _object(name, found, list(known))
    for key, part in known.items():
        if key not in given and part.default is MISSING:
            raise ValueError(f"{name}.{key}: is missing")
        if key in given and type(given[key]) not in _PART_TYPES[str(part.type)]:
            raise ValueError(f"{name}.{key} = {str(given[key])[:_SHOWN]}: expected {part.type}")
    return kind(**given)


def _ids(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        raise ValueError(f"{name} = {str(value)[:_SHOWN]}: expected a list of token ids")
    return tuple(value)


def _object(name: str, found: Any, known: list[str] | None = None) -> dict[str, Any]:
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise ValueError(f"{name}: is {type(found).__name__}, expected an object")
    for key in found if known is not None else ():
        if key not in (known or ()):
            raise ValueError(f"{key}: is no setting; expected some of {', '.join(known or ())}")
    return dict(found)
