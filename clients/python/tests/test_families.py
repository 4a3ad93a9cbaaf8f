"""TransformerLens' names in the families of transformers: what a layer adds to the residual stream, or a refusal."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install transformers")

from families import FAMILIES, tiny  # noqa: E402

from plumbline_sae.capture import capture  # noqa: E402
from plumbline_sae.heads import Head  # noqa: E402
from plumbline_sae.sites import place_of  # noqa: E402

IDS = torch.tensor([[3, 11, 12, 13, 14, 9], [5, 21, 22, 23, 24, 8]])
NAMES = ("resid_pre", "attn_out", "mlp_in", "mlp_out", "resid_post")


def captured_rows(model: Any, layer: int) -> tuple[dict[str, Any], list[str]]:
    """Returns the rows of each name that a block has, and the sentences of those that are refused."""
    sites, refused = {}, []
    for name in NAMES:
        try:
            place_of(model, f"blocks.{layer}.hook_{name}")
            sites[name] = f"blocks.{layer}.hook_{name}"
        except ValueError as error:
            refused.append(str(error))
    producer, records = Recorder(), []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    log = logging.getLogger("plumbline_sae.capture")
    log.addHandler(handler)
    try:
        with capture(model, producer, sites) as captured, torch.no_grad():
            for _ in range(2):
                with captured.batch(["a", "b"]):
                    model(input_ids=IDS)
    finally:
        log.removeHandler(handler)
    refused += [text for record in records if (text := record.getMessage()).startswith("site ")]
    rows = {name: [sent.rows for sent in producer.sent if sent.site == name] for name in sites}
    assert all(len(found) in (0, 4) for found in rows.values()), "all of a pass, or nothing"
    found = {name: np.concatenate(parts).astype(np.float64) for name, parts in rows.items() if parts}
    assert len(refused) == len(NAMES) - len(found), refused
    known = ("name a module's path", "Name a module's path", "name a path", "one residual stream", "more than once")
    assert all(any(part in sentence for part in known) for sentence in refused), refused
    return found, refused


def assert_the_names_mean_what_they_say(model: Any, layer: int) -> tuple[str, dict[str, Any]]:
    rows, _ = captured_rows(model, layer)
    if "resid_post" not in rows:
        return "no stream", rows
    post, near = rows["resid_post"], {"rtol": 0, "atol": 2e-5 * float(np.abs(rows["resid_post"]).max())}
    if "attn_out" in rows and "mlp_in" in rows:
        np.testing.assert_allclose(rows["resid_pre"] + rows["attn_out"], rows["mlp_in"], **near)
    if "mlp_in" in rows:
        np.testing.assert_allclose(rows["mlp_in"] + rows["mlp_out"], post, **near)
    if "attn_out" in rows and "mlp_out" in rows:
        np.testing.assert_allclose(rows["resid_pre"] + rows["attn_out"] + rows["mlp_out"], post, **near)
    assert "attn_out" not in rows or "mlp_out" in rows, "one without the other cannot be shown"
    return ", ".join(name for name in ("attn_out", "mlp_in", "mlp_out") if name in rows) or "refused", rows


ALL = "attn_out, mlp_in, mlp_out"


@pytest.mark.parametrize(
    ("family", "shown"),
    [
        ("gpt2", ALL),
        ("llama", ALL),
        ("gemma2", ALL),
        ("bloom", ALL),
        ("granite", ALL),
        ("afmoe", ALL),
        ("inkling_text", ALL),
        ("minicpm3", ALL),
        ("gpt_neox", "attn_out, mlp_out"),
        ("doge", "refused"),
        ("bert", "refused"),
        ("deepseek_v4", "no stream"),
    ],
)
def test_a_name_is_what_the_layer_adds_or_is_refused_with_paths_to_use(family: str, shown: str) -> None:
    if family not in FAMILIES:
        pytest.skip(f"these transformers have no {family}")
    assert assert_the_names_mean_what_they_say(tiny(family), 1)[0] == shown


@pytest.mark.families
@pytest.mark.parametrize("family", FAMILIES)
def test_in_every_family_a_name_is_what_the_layer_adds_or_is_refused(
    family: str, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        model = tiny(family)
    except ValueError as error:
        pytest.skip(f"no small model: {error}")
    try:
        place_of(model, "blocks.0.hook_resid_post")
    except ValueError as error:
        pytest.skip(str(error))
    (first, rows), (second, rows_of_next) = (assert_the_names_mean_what_they_say(model, layer) for layer in (0, 1))
    if first != "no stream":
        np.testing.assert_array_equal(rows["resid_post"], rows_of_next["resid_pre"])
    with capsys.disabled():
        print(f"\n{family:24} {' | '.join(dict.fromkeys((first, second)))}")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_sixteen_bits_show_the_same_places(dtype: str) -> None:
    model = tiny("granite").to(getattr(torch, dtype))
    rows, refused = captured_rows(model, 1)
    assert refused == []
    added = rows["resid_post"] - rows["resid_pre"]
    np.testing.assert_allclose(rows["attn_out"] + rows["mlp_out"], added, atol=0.05 * np.abs(added).max())


def test_what_is_lost_in_the_stream_is_not_shown_by_it() -> None:
    model = tiny("llama").to(torch.bfloat16)
    with torch.no_grad():
        model.model.embed_tokens.weight.mul_(1e6)
    rows, refused = captured_rows(model, 0)
    assert set(rows) == {"resid_pre", "resid_post"}
    assert all("within the rounding of the stream" in sentence for sentence in refused), refused


def test_a_head_is_cut_at_the_place_that_a_run_shows() -> None:
    model = tiny("bloom")
    layer = model.transformer.h[1]
    assert Head(model, "blocks.1.hook_mlp_out")._place.module is layer.mlp.dense_4h_to_h
    with pytest.raises(ValueError, match=r"multiplies what mlp gives by 0\.22"):
        Head(tiny("granite"), "blocks.1.hook_mlp_out")
