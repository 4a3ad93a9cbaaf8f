"""Capture from small transformers, initialised at random, beside the hidden states that they return themselves."""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install transformers")

from families import tiny  # noqa: E402

from plumbline_sae.capture import capture  # noqa: E402
from plumbline_sae.coverage import Missing  # noqa: E402
from plumbline_sae.sites import Site, place_of, shown_place  # noqa: E402

PAD, BOS, EOS = 0, 1, 2
PROMPTS = [[BOS, 11, 12, 13, 14], [BOS, 21, 22], [BOS, 31, 32, 33]]
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def gpt2() -> Any:
    torch.manual_seed(7)
    config = transformers.GPT2Config(
        vocab_size=64,
        n_positions=64,
        n_embd=32,
        n_layer=3,
        n_head=4,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=PAD,
    )
    return transformers.GPT2LMHeadModel(config).eval()


@pytest.fixture(scope="module")
def llama() -> Any:
    torch.manual_seed(8)
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


def padded(side: str) -> dict[str, Any]:
    longest = max(map(len, PROMPTS))
    ids = torch.full((len(PROMPTS), longest), PAD)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(PROMPTS):
        where = slice(longest - len(prompt), None) if side == "left" else slice(0, len(prompt))
        ids[row, where] = torch.tensor(prompt)
        mask[row, where] = 1
    return {"input_ids": ids, "attention_mask": mask}


def hidden_of(model: Any, inputs: dict[str, Any], layer: int) -> Any:
    """The residual stream behind a block that is not the last one."""
    with torch.no_grad():
        return model(**inputs, output_hidden_states=True).hidden_states[layer + 1]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("site", ["transformer.h.1", "blocks.1.hook_resid_post"])
def test_each_request_is_its_own_rows_without_padding(gpt2: Any, side: str, site: str) -> None:
    inputs = padded(side)
    expected = hidden_of(gpt2, inputs, 1)
    producer = Recorder()
    with capture(gpt2, producer, {"residual.1": site}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            gpt2(**inputs)
    for row, (name, prompt) in enumerate(zip(NAMES, PROMPTS, strict=True)):
        sent = producer.of(name)
        assert sent.site == "residual.1"
        np.testing.assert_array_equal(sent.token_ids, prompt)
        np.testing.assert_array_equal(sent.rows, expected[row][inputs["attention_mask"][row] == 1].numpy())
    assert captured.stats.failed == 0, captured.stats
    assert captured.stats.rows == 12


def test_the_records_of_a_batch_have_one_time_at_all_sites(gpt2: Any) -> None:
    producer = Recorder()
    with capture(gpt2, producer, {"r": "transformer.h.1", "s": "transformer.h.0"}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            gpt2(**padded("right"))
        with captured.batch(["later"], timestamp_ms=7):
            gpt2(input_ids=torch.tensor([PROMPTS[0]]))
    times = [sent.timestamp_ms for sent in producer.sent]
    assert times[0] is not None
    assert len(set(times[:6])) == 1
    assert times[6:] == [7, 7]


class Held(Recorder):
    """A producer that takes nothing before it may, and fails at one request."""

    def __init__(self, failing: str | None = None) -> None:
        super().__init__()
        self.may = threading.Event()
        self.failing = failing

    def send(self, site: str, request: str, activations: Any, **others: Any) -> bool:
        assert self.may.wait(30)
        if request == self.failing:
            raise ValueError("no")
        return super().send(site, request, activations, **others)


def test_a_batch_is_counted_when_it_ends_and_not_when_the_thread_has_sent_it(gpt2: Any) -> None:
    producer = Held()
    with capture(gpt2, producer, {"r": "transformer.h.1", "s": "transformer.h.0"}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            gpt2(**padded("left"))
        assert producer.sent == []
        assert (captured.stats.requests, captured.stats.rows) == (len(NAMES), 24)
        producer.may.set()
    assert (captured.stats.requests, captured.stats.rows) == (len(NAMES), 24)


def test_rows_that_the_producer_was_not_given_are_not_counted(gpt2: Any) -> None:
    producer = Held(NAMES[1])
    producer.may.set()
    with capture(gpt2, producer, {"r": "transformer.h.1"}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            gpt2(**padded("left"))
    assert captured.stats.failed == 1
    assert captured.stats.rows == len(PROMPTS[0])


def test_special_tokens_are_left_out_by_mask_or_by_id(gpt2: Any) -> None:
    inputs = padded("left")
    special = (inputs["input_ids"] == BOS).int()
    expected = hidden_of(gpt2, inputs, 1)
    for options, masks in ({}, {"special_tokens_mask": special}), ({"special_ids": [BOS, PAD]}, {}):
        producer = Recorder()
        with capture(gpt2, producer, {"r": "transformer.h.1"}, **options) as captured, torch.no_grad():
            with captured.batch(NAMES, **inputs, **masks):
                gpt2(**inputs)
        np.testing.assert_array_equal(producer.of("b").token_ids, [21, 22])
        np.testing.assert_array_equal(producer.of("b").rows, expected[1, -2:].numpy())


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("model_name", ["gpt2", "llama"])
def test_the_steps_of_generate_are_joined_per_request(
    model_name: str, use_cache: bool, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(model_name)
    inputs = padded("left")
    producer = Recorder()
    with capture(model, producer, {"r": "blocks.1.hook_resid_post"}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            made = model.generate(**inputs, max_new_tokens=6, do_sample=False, use_cache=use_cache, eos_token_id=None)
    seen = made[:, :-1]  # the last token is never read by the model
    mask = torch.cat([inputs["attention_mask"], torch.ones_like(made[:, 5:-1])], dim=1)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    expected = hidden_of(model, {"input_ids": seen, "attention_mask": mask, "position_ids": positions}, 1)
    assert captured.stats.failed == 0, captured.stats
    for row, name in enumerate(NAMES):
        sent = producer.of(name)
        np.testing.assert_array_equal(sent.token_ids, seen[row][mask[row] == 1].numpy())
        np.testing.assert_allclose(sent.rows, expected[row][mask[row] == 1].numpy(), atol=1e-5)


def test_nothing_is_taken_of_a_request_that_has_ended(gpt2: Any) -> None:
    inputs = padded("left")
    with torch.no_grad():
        free = gpt2.generate(**inputs, max_new_tokens=6, do_sample=False, eos_token_id=None)[:, 5:]
    end = int(free[0, 2])  # what the first request says third ends it
    rest = [row for row in range(3) if end in free[row].tolist()]
    producer = Recorder()
    with capture(gpt2, producer, {"r": "transformer.h.1"}, special_ids=[PAD, end]) as captured, torch.no_grad():
        with captured.batch(NAMES):
            gpt2.generate(**inputs, max_new_tokens=6, do_sample=False, eos_token_id=end)
    for row in rest:
        said = free[row].tolist()[: free[row].tolist().index(end)]
        np.testing.assert_array_equal(producer.of(NAMES[row]).token_ids, [t for t in PROMPTS[row] if t != end] + said)


def test_a_transcoder_gets_what_its_layer_read_and_what_it_wrote(llama: Any) -> None:
    inputs = padded("right")
    seen: dict[str, Any] = {}
    mlp = llama.model.layers[2].mlp
    handle = mlp.register_forward_hook(lambda m, args, out: seen.update(x=args[0].clone(), y=out.clone()))
    producer = Recorder()
    site = Site("model.layers.2.mlp", at="input", targets=("model.layers.2.mlp", "output"))
    by_name = Site("blocks.2.mlp.hook_in", targets="blocks.2.hook_mlp_out")
    with capture(llama, producer, {"pair": site, "named": by_name}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            llama(**inputs)
    handle.remove()
    for name in ("pair", "named"):
        sent = next(s for s in producer.sent if s.request == "b" and s.site == name)
        np.testing.assert_array_equal(sent.rows, seen["x"][1, :3].numpy())
        np.testing.assert_array_equal(sent.targets, seen["y"][1, :3].numpy())


def test_bfloat16_is_sent_as_it_is(llama: Any) -> None:
    model = transformers.LlamaForCausalLM(llama.config).to(torch.bfloat16).eval()
    inputs = padded("right")
    expected = hidden_of(model, inputs, 0)
    producer = Recorder()
    with capture(model, producer, {"r": "blocks.0.hook_resid_post"}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            model(**inputs)
    assert producer.of("a").dtype == "BF16"
    np.testing.assert_array_equal(producer.of("a").rows, expected[0].float().numpy())


def test_outside_of_a_batch_and_after_removal_nothing_is_taken(gpt2: Any) -> None:
    producer = Recorder()
    captured = capture(gpt2, producer, {"r": "transformer.h.1"})
    with torch.no_grad():
        gpt2(**padded("left"))
        captured.remove()
        with captured.batch(NAMES):
            gpt2(**padded("left"))
    assert producer.sent == []
    assert not gpt2._forward_pre_hooks


def test_a_share_of_the_requests_is_taken_the_same_one_each_time(gpt2: Any) -> None:
    names = [f"request-{i}" for i in range(200)]
    taken = []
    for _ in range(2):
        producer = Recorder()
        with capture(gpt2, producer, {"r": "transformer.h.1"}, sample=0.25) as captured, torch.no_grad():
            for i in range(0, 200, 50):
                with captured.batch(names[i : i + 50]):
                    gpt2(input_ids=torch.full((50, 2), 9))
        taken.append([sent.request for sent in producer.sent])
    assert taken[0] == taken[1]
    assert 25 < len(taken[0]) < 75


def test_what_goes_wrong_is_counted_and_the_model_goes_on(gpt2: Any) -> None:
    inputs = padded("left")
    with torch.no_grad():
        expected = gpt2(**inputs).logits
        producer = Recorder()
        with capture(gpt2, producer, {"r": "transformer.h.1"}) as captured:
            with captured.batch(["only", "two"]):
                logits = gpt2(**inputs).logits
            with captured.batch(NAMES):
                gpt2(**inputs)
    assert torch.equal(logits, expected)
    assert captured.stats.failed > 0
    assert "called with 3 rows, the batch names 2 requests" in str(captured.stats.last_error)
    assert {sent.request for sent in producer.sent} == set(NAMES)


def test_rows_beyond_the_bound_are_dropped_and_counted(gpt2: Any) -> None:
    producer = Recorder()
    captured = capture(gpt2, producer, {"r": "transformer.h.1"}, max_waiting_bytes=2_000)
    captured._waiting = 1_000  # as if the thread were busy
    with torch.no_grad(), captured.batch(NAMES):
        gpt2(**padded("left"))
    captured.remove()
    assert producer.dropped == [("r", 12)]
    assert captured.stats.dropped_rows == 12
    assert producer.sent == []


def test_a_batch_that_outgrows_the_bound_holds_no_row_while_it_is_open(gpt2: Any) -> None:
    producer = Recorder()
    sites = {"r": "transformer.h.1", "s": "transformer.h.2"}  # of 12 tokens 1,536 bytes each
    with torch.no_grad(), capture(gpt2, producer, sites, max_waiting_bytes=3_000) as captured:
        with captured.batch(NAMES):
            gpt2(**padded("left"))
            batch = captured._current()
            assert batch is not None
            assert sum(step.rows.nbytes for steps in batch.steps.values() for step in steps) == 0
        with captured.batch(["d"]):
            gpt2(torch.tensor([[BOS, 11, 12]]))
    assert producer.dropped == [("r", 12), ("s", 12)]
    assert captured.stats.dropped_rows == 24
    assert {sent.request for sent in producer.sent} == {"d"}


def test_rows_that_a_later_call_replaces_do_not_fill_a_batch(gpt2: Any) -> None:
    producer = Recorder()
    with torch.no_grad(), capture(gpt2, producer, {"r": "transformer.h.1"}, max_waiting_bytes=2_000) as captured:
        with captured.batch(NAMES):
            for _ in range(5):
                gpt2(**padded("left"), use_cache=False)
    assert producer.dropped == []
    assert sum(len(sent.rows) for sent in producer.sent) == 12


def test_tokens_of_requests_that_are_not_sampled_are_counted_and_headers_are_of_their_request(gpt2: Any) -> None:
    whole, half = Recorder(), Recorder()
    headers = [{"tags": f"tenant={name}"} for name in NAMES]
    for producer, sample in ((whole, 1.0), (half, 0.5)):
        with capture(gpt2, producer, {"r": "transformer.h.1"}, sample=sample, headers={"engine": "t"}) as captured:
            with torch.no_grad(), captured.batch(NAMES, headers=headers):
                gpt2(**padded("left"))
    rows = {sent.request: len(sent.rows) for sent in whole.sent}
    assert rows == {"a": 5, "b": 3, "c": 4}
    assert [sent.headers for sent in whole.sent] == [{"engine": "t", "tags": f"tenant={name}"} for name in NAMES]
    left_out = set(NAMES) - {sent.request for sent in half.sent}
    assert 0 < len(left_out) < len(NAMES)
    assert half.missing["r"] == Missing(not_sampled=sum(rows[name] for name in left_out))
    assert whole.missing["r"] == Missing()


def test_places_are_found_by_path_and_by_name(gpt2: Any, llama: Any) -> None:
    assert place_of(llama, "blocks.1.hook_resid_pre").module is llama.model.layers[1]
    assert place_of(llama, "blocks.1.hook_resid_pre").at == "input"
    assert place_of(llama, "blocks.1.attn.hook_z").module is llama.model.layers[1].self_attn.o_proj
    assert place_of(llama, "blocks.1.mlp.hook_in").module is llama.model.layers[1].mlp
    shown = {"hook_attn_out": gpt2.transformer.h[2].attn, "hook_mlp_out": gpt2.transformer.h[2].mlp}
    for name, module in shown.items():
        place = shown_place(place_of(gpt2, f"blocks.2.{name}"), lambda: gpt2(torch.tensor([[1, 2, 3]])))
        assert (place.module, place.at) == (module, "output")
    before = shown_place(place_of(gpt2, "blocks.2.hook_mlp_in"), lambda: gpt2(torch.tensor([[1, 2, 3]])))
    assert (before.module, before.at) == (gpt2.transformer.h[2].ln_2, "input"), "the stream, and not what a norm made"
    assert place_of(gpt2, "blocks.2.attn.hook_z").module is gpt2.transformer.h[2].attn.c_proj
    plain = torch.nn.Module()
    plain.blocks = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
    assert place_of(plain, "blocks.2.hook_resid_post").module is plain.blocks[2]
    with pytest.raises(ValueError, match="the model has no block 7, its blocks are 0 to 2"):
        place_of(gpt2, "blocks.7.hook_resid_post")
    with pytest.raises(ValueError, match="expected one of resid_pre"):
        place_of(gpt2, "blocks.1.ln2.hook_normalized")
    with pytest.raises(ValueError, match=r"no module 'encoder\.layer\.1'"):
        place_of(gpt2, "encoder.layer.1")


def test_the_hooks_of_transformer_lens_are_taken_by_their_names() -> None:
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig
    except ImportError:
        pytest.skip("needs a transformer-lens older than 4, which has a HookedTransformer")
    torch.manual_seed(3)
    config = HookedTransformerConfig(
        n_layers=2, d_model=32, n_ctx=16, d_head=8, n_heads=4, d_vocab=64, act_fn="gelu", device="cpu"
    )
    model = HookedTransformer(config).eval()
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    sites = {"residual": "blocks.0.hook_resid_post", "heads": "blocks.1.attn.hook_z"}
    producer = Recorder()
    with torch.no_grad():
        _, cache = model.run_with_cache(ids)
        with capture(model, producer, sites) as captured, captured.batch(["a", "b"]):
            model(ids)
    assert captured.stats.failed == 0, captured.stats
    for sent in producer.sent:
        expected = cache[sites[sent.site]]["ab".index(sent.request)].flatten(1)
        np.testing.assert_array_equal(sent.rows, expected.numpy())
    assert len(producer.sent) == 4


def test_a_module_that_layers_share_is_refused_with_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    sizes = {"vocab_size": 64, "embedding_size": 16, "hidden_size": 32, "intermediate_size": 48}
    config = transformers.AlbertConfig(num_hidden_layers=4, num_attention_heads=4, **sizes)
    model = transformers.AlbertModel(config).eval()
    layer = "encoder.albert_layer_groups.0.albert_layers.0"
    producer = Recorder()
    sites = {"shared": layer, "once": "embeddings", "pair": Site("embeddings", targets=layer)}
    with capture(model, producer, sites, sample=0.99) as captured, torch.no_grad():
        for _ in range(2):
            with captured.batch(NAMES):
                model(**padded("right"))
    assert {sent.site for sent in producer.sent} == {"once"}
    assert sum(len(sent.rows) for sent in producer.sent) == 24
    assert captured.stats.failed == 4
    assert f"{layer} is called more than once in one call of the model" in str(captured.stats.last_error)
    warned = [record.getMessage().split(": no rows")[0] for record in caplog.records]
    assert warned == ["site shared", "site pair"], "each site once"
    assert captured.silent == {}


def test_a_site_that_the_model_does_not_come_by_says_so(gpt2: Any, caplog: pytest.LogCaptureFixture) -> None:
    model = torch.nn.Module()
    model.used, model.unused = gpt2, torch.nn.Linear(4, 4)
    model.forward = model.used.forward
    producer = Recorder()
    sites = {"here": "used.transformer.h.1", "silent": "unused"}
    sites["pair"] = Site("used.transformer.h.1", targets="unused")
    sites["neither"] = Site("unused", targets="unused")
    with capture(model, producer, sites) as captured, torch.no_grad():
        for _ in range(3):
            with captured.batch(NAMES):
                model(**padded("right"))
        with captured.batch(NAMES):
            pass
    assert captured.silent == {"silent": 3, "pair": 3, "neither": 3}
    assert {sent.site for sent in producer.sent} == {"here"}
    warned = [record.getMessage() for record in caplog.records if "did not come by unused" in record.getMessage()]
    assert [message.split(":")[0] for message in sorted(warned)] == ["site neither", "site pair", "site silent"]


def bridge_of(model: Any, folder: Path) -> Any:
    """The model as TransformerLens 4 wraps it; shares its weights."""
    bridge = pytest.importorskip("transformer_lens.model_bridge", reason="needs transformer-lens 4")
    from tokenizers import Tokenizer, models

    words = Tokenizer(models.WordLevel({"<s>": 0, "a": 1, "b": 2, "c": 3}, unk_token="a"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", pad_token="<s>")
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return bridge.TransformerBridge.boot_transformers(str(folder), hf_model=model, device="cpu")


def test_a_hook_that_transformer_lens_has_switched_off_says_so(
    gpt2: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = bridge_of(copy.deepcopy(gpt2), tmp_path)
    producer = Recorder()
    with capture(model, producer, {"off": "blocks.0.hook_mlp_in"}) as captured, torch.no_grad():
        with captured.batch(["a", "b"]):
            model(torch.tensor([[5, 6, 7], [8, 9, 10]]))
    assert producer.sent == []
    assert captured.silent == {"off": 1}
    assert "did not come by blocks.0.hook_mlp_in, the place of its activations" in caplog.text


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2", "bloom", "granite"])
def test_a_name_gives_what_transformer_lens_gives_by_it(family: str, tmp_path: Path) -> None:
    plain = tiny(family)
    names = ["hook_resid_pre", "hook_attn_out", "hook_mlp_in", "hook_mlp_out", "hook_resid_post", "mlp.hook_in"]
    sites = {name: f"blocks.1.{name}" for name in names}
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    producer = Recorder()
    with torch.no_grad():
        with capture(plain, producer, sites) as captured, captured.batch(["a", "b"]):
            plain(ids)
        assert captured.stats.failed == 0, captured.stats
        bridge = bridge_of(plain, tmp_path)
        bridge.set_use_hook_mlp_in(True)
        _, cache = bridge.run_with_cache(ids)
    assert len(producer.sent) == 2 * len(names)
    for sent in producer.sent:
        if family == "bloom" and sent.site == "hook_mlp_in":
            continue  # not in the cache of TransformerLens' block for BLOOM
        expected = cache[sites[sent.site]]["ab".index(sent.request)]
        np.testing.assert_allclose(sent.rows, expected.numpy(), atol=1e-5, err_msg=sent.site)


def test_the_names_of_a_bridge_are_taken_and_what_does_not_fire_says_so(tmp_path: Path) -> None:
    bridge = bridge_of(tiny("granite"), tmp_path)
    producer = Recorder()
    names = ["hook_resid_pre", "hook_resid_post", "mlp.hook_in", "mlp.hook_out", "hook_attn_out"]
    sites = {name: f"blocks.1.{name}" for name in names}
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    with torch.no_grad():
        _, cache = bridge.run_with_cache(ids)
        with capture(bridge, producer, sites) as captured, captured.batch(["a", "b"]):
            bridge(ids)
    assert captured.silent == {"hook_attn_out": 1}, "it fires for the hooks of TransformerLens alone"
    assert len(producer.sent) == 2 * 4
    for sent in producer.sent:
        np.testing.assert_array_equal(sent.rows, cache[sites[sent.site]]["ab".index(sent.request)].numpy())


def test_modules_of_vllm_are_refused_since_their_blocks_hand_on_a_pair() -> None:
    block = type("LlamaDecoderLayer", (torch.nn.Module,), {"__module__": "vllm.model_executor.models.llama"})()
    model = torch.nn.Module()
    model.model = torch.nn.Module()
    model.model.layers = torch.nn.ModuleList([block])
    with pytest.raises(ValueError, match=r"LlamaDecoderLayer is a module of vLLM.*--worker-cls"):
        capture(model, Recorder(), {"a": "model.layers.0"})
    served = type("LlamaForCausalLM", (torch.nn.Module,), {"__module__": "vllm.model_executor.models.llama"})()
    with pytest.raises(ValueError, match="LlamaForCausalLM is a module of vLLM"):
        capture(served, Recorder(), {"a": "blocks.0.hook_resid_post"})
