"""What is taken of a text beside an oracle: the model itself, run once over the final text without a capture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recorder import Recorder

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install transformers")

from plumbline_sae.capture import Capture, capture  # noqa: E402

PAD = 0
NAMES = ["a", "b"]
IDS = torch.tensor([[1, 11, 12, 13, 14], [PAD, PAD, 1, 21, 22]])
MASK = (IDS != PAD).long()
ALONE = torch.tensor([[1, 11, 12, 11, 12, 11, 12]])
SMALL = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "pad_token_id": PAD}
GREEDY = {"do_sample": False, "eos_token_id": None, "pad_token_id": PAD}


def llama(**others: Any) -> Any:
    torch.manual_seed(8)
    config = transformers.LlamaConfig(**{**SMALL, "num_attention_heads": 4, **others})
    return transformers.LlamaForCausalLM(config).eval()


def gpt2() -> Any:
    torch.manual_seed(7)
    config = transformers.GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=3, n_head=4)
    return transformers.GPT2LMHeadModel(config).eval()


def gemma(generation: int) -> Any:
    torch.manual_seed(9)
    options = {**SMALL, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "sliding_window": 4}
    if generation == 2:
        return transformers.Gemma2ForCausalLM(transformers.Gemma2Config(**options)).eval()
    return transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**options)).eval()


def mamba() -> Any:
    torch.manual_seed(10)
    options = {**SMALL, "num_heads": 4, "head_dim": 16, "expand": 2, "n_groups": 1, "state_size": 8}
    return transformers.Mamba2ForCausalLM(transformers.Mamba2Config(**options)).eval()


def block_of(model: Any) -> tuple[str, Any]:
    """The second block and its path."""
    for path in ("model.layers.1", "transformer.h.1", "backbone.layers.1"):
        try:
            return path, model.get_submodule(path)
        except AttributeError:
            continue
    raise AssertionError(type(model))


def rows_of(model: Any, text: Any, mask: Any) -> Any:
    """What the second block gives for a whole text, seen by a hook of this test's own."""
    seen: list[Any] = []
    _, block = block_of(model)
    handle = block.register_forward_hook(lambda m, a, out: seen.append(out[0] if isinstance(out, tuple) else out))
    more = {} if mask.all() else {"position_ids": (mask.cumsum(-1) - 1).clamp(min=0)}
    with torch.no_grad():
        model(input_ids=text, attention_mask=mask, use_cache=False, **more)
    handle.remove()
    return seen[0]


def capture_of(model: Any, producer: Any, **options: Any) -> Capture:
    return capture(model, producer, {"r": block_of(model)[0]}, **options)


def require_text(producer: Recorder, model: Any, text: Any, mask: Any, names: list[str] = NAMES) -> None:
    """Each request has each of its tokens once, in order, with the row that the whole text gives it."""
    expected = rows_of(model, text, mask)
    assert sorted(sent.request for sent in producer.sent) == sorted(names)
    for row, name in enumerate(names):
        sent = producer.of(name)
        real = mask[row] == 1
        if sent.token_ids is not None:
            np.testing.assert_array_equal(sent.token_ids, text[row][real].numpy())
        assert len(sent.rows) == int(real.sum())
        np.testing.assert_allclose(sent.rows, expected[row][real].numpy(), atol=1e-4)


def longer(mask: Any, text: Any) -> Any:
    return torch.cat([mask, torch.ones(len(mask), text.shape[1] - mask.shape[1], dtype=mask.dtype)], dim=1)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (gpt2, {"cache_implementation": "static"}),
        (llama, {"cache_implementation": "static"}),
        (lambda: gemma(2), {"cache_implementation": "static"}),
        (lambda: gemma(3), {"cache_implementation": "static"}),
        (lambda: gemma(2), {}),
        (llama, {"prefill_chunk_size": 2}),
        (llama, {"prefill_chunk_size": 4}),
        (gpt2, {"use_cache": False}),
    ],
)
def test_each_token_of_generate_is_taken_once(make: Any, options: dict[str, Any]) -> None:
    model, producer = make(), Recorder()
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(NAMES):
        made = model.generate(IDS, attention_mask=MASK, max_new_tokens=6, **GREEDY, **options)
    assert captured.stats.failed == 0, captured.stats
    text = made[:, :-1]  # the model never reads the last token
    require_text(producer, model, text, longer(MASK, text))


def test_each_token_of_a_recurrent_model_is_taken_once() -> None:
    model, producer = mamba(), Recorder()
    ids, mask = IDS[:1], MASK[:1]
    known: dict[str, Any] = {}
    text = ids
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(["a"]):
        for step in range(4):
            new = text if step == 0 else text[:, -1:]
            out = model(input_ids=new, attention_mask=longer(mask, text), use_cache=True, **known)
            known = cache_argument(model, cache_of(out))
            text = torch.cat([text, out.logits[:, -1:].argmax(-1)], dim=1)
    assert captured.stats.failed == 0, captured.stats
    require_text(producer, model, text[:, :-1], longer(mask, text[:, :-1]), ["a"])


def cache_of(out: Any) -> Any:
    names = ("cache", "past_key_values", "cache_params")
    return next(found for name in names if (found := getattr(out, name, None)) is not None)


def cache_argument(model: Any, cache: Any) -> dict[str, Any]:
    import inspect

    known = inspect.signature(model.forward).parameters
    name = next(name for name in ("cache", "past_key_values", "cache_params") if name in known)
    return {} if cache is None else {name: cache}


@pytest.mark.parametrize("make", [llama, gpt2])
@pytest.mark.parametrize("way", ["prompt_lookup", "assistant", "early_exit"])
def test_candidates_that_the_model_rejects_are_never_sent(make: Any, way: str) -> None:
    model, producer = make(), Recorder()
    if way == "early_exit" and make is gpt2:
        pytest.skip("early exit is for models that can leave out layers")
    ways: dict[str, Any] = {
        "prompt_lookup": {"prompt_lookup_num_tokens": 4},
        "assistant": {"assistant_model": llama(num_hidden_layers=1, hidden_size=16)},
        "early_exit": {"assistant_early_exit": 2},
    }
    plain = model.generate(ALONE, max_new_tokens=12, **GREEDY)
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(["a"]):
        made = model.generate(ALONE, max_new_tokens=12, **GREEDY, **ways[way])
    assert torch.equal(made, plain)
    text = made[:, :-1]
    assert text.shape[1] == 18
    require_text(producer, model, text, torch.ones_like(text), ["a"])
    assert (captured.stats.failed > 0) == (way == "early_exit")  # the draft's calls of the same model are refused


@pytest.mark.parametrize("use_cache", [True, False])
def test_chunks_of_a_prompt_are_taken_once_whatever_their_sizes(use_cache: bool) -> None:
    model, producer = llama(), Recorder()
    text = torch.arange(10, 20)[None]
    cache = None
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(["a"]):
        for first, last in ((0, 3), (3, 10)):
            given = text[:, first:last] if use_cache else text[:, :last]
            out = model(given, use_cache=use_cache, **(cache_argument(model, cache) if use_cache else {}))
            cache = cache_of(out) if use_cache else None
    assert captured.stats.failed == 0, captured.stats
    require_text(producer, model, text, torch.ones_like(text), ["a"])


def test_a_special_token_at_the_end_of_a_chunk_ends_no_request() -> None:
    model, producer = llama(), Recorder()
    text = torch.tensor([[1, 11, 12, 5, 13, 14, 5]])
    with capture_of(model, producer, special_ids=[5]) as captured, torch.no_grad(), captured.batch(["a"]):
        made = model.generate(text, max_new_tokens=4, prefill_chunk_size=2, **GREEDY)
    assert captured.stats.failed == 0, captured.stats
    assert 5 not in made[0, 7:]
    np.testing.assert_array_equal(producer.of("a").token_ids, [1, 11, 12, 13, 14, *made[0, 7:-1]])


def test_a_retry_takes_each_token_once() -> None:
    model, producer = gpt2(), Recorder()
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(NAMES):
        model(IDS, attention_mask=MASK)
        made = [model.generate(IDS, attention_mask=MASK, max_new_tokens=n, **GREEDY) for n in (6, 3)]
    assert captured.stats.failed == 0, captured.stats
    text = made[1][:, :-1]
    require_text(producer, model, text, longer(MASK, text))


def test_a_call_that_fails_half_way_and_is_made_again_is_whole() -> None:
    model, producer = gpt2(), Recorder()
    trap = model.transformer.h[2].register_forward_pre_hook(fail)
    with capture(model, producer, {"r": "transformer.h.1", "last": "transformer.h.2"}) as captured, torch.no_grad():
        with captured.batch(NAMES):
            with pytest.raises(RuntimeError, match="out of memory"):
                model(IDS, attention_mask=MASK)
            trap.remove()
            model(IDS, attention_mask=MASK)
    assert captured.stats.failed == 0, captured.stats
    assert sorted((sent.site, sent.request, len(sent.rows)) for sent in producer.sent) == [
        ("last", "a", 5),
        ("last", "b", 3),
        ("r", "a", 5),
        ("r", "b", 3),
    ]


def test_places_behind_a_failure_or_in_a_refused_call_are_not_called_silent(caplog: pytest.LogCaptureFixture) -> None:
    model, producer = gpt2(), Recorder()
    with capture(model, producer, {"first": "transformer.h.0", "last": "transformer.h.2"}) as captured, torch.no_grad():
        with captured.batch(["a"]):
            model(IDS)
        trap = model.transformer.h[1].register_forward_pre_hook(fail)
        with pytest.raises(RuntimeError, match="out of memory"), captured.batch(NAMES):
            model(IDS)
        trap.remove()
    assert captured.silent == {}
    assert captured.stats.failed == 1
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["not captured"]


def fail(module: Any, inputs: Any) -> None:
    raise RuntimeError("out of memory")


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradient_checkpointing_takes_each_token_once(reentrant: bool) -> None:
    model, producer = llama(), Recorder()
    model.train()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    model.enable_input_require_grads()
    with capture_of(model, producer) as captured, captured.batch(NAMES):
        model(IDS, attention_mask=MASK, labels=IDS).loss.backward()
    assert captured.stats.failed == 0, captured.stats
    assert captured.stats.without_batch == 0
    model.eval()
    require_text(producer, model, IDS, MASK)


@pytest.mark.parametrize("reentrant", [True, False])
def test_what_a_layer_adds_is_shown_and_taken_once_under_gradient_checkpointing(reentrant: bool) -> None:
    model, producer = llama(), Recorder()
    model.train()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    model.enable_input_require_grads()
    names = ("resid_pre", "attn_out", "mlp_out", "resid_post")
    with capture(model, producer, {name: f"blocks.1.hook_{name}" for name in names}) as captured:
        for number in range(2):
            with captured.batch([f"{name}{number}" for name in NAMES]):
                model(IDS, attention_mask=MASK, labels=IDS).loss.backward()
    assert (captured.stats.failed, captured.silent) == (0, {}), captured.stats
    for number in range(2):
        for name, tokens in zip(NAMES, (5, 3), strict=True):
            found = {sent.site: sent.rows for sent in producer.sent if sent.request == f"{name}{number}"}
            assert [len(found[site]) for site in names] == [tokens] * 4
            added = found["resid_pre"] + found["attn_out"] + found["mlp_out"]
            np.testing.assert_allclose(added, found["resid_post"], atol=1e-5)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_site_that_a_pass_does_not_show_is_refused_once_a_call_under_gradient_checkpointing(reentrant: bool) -> None:
    options = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
    model = transformers.BertModel(transformers.BertConfig(**options, num_attention_heads=4)).train()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    model.enable_input_require_grads()
    producer = Recorder()
    with capture(model, producer, {"r": "encoder.layer.0", "added": "blocks.1.hook_attn_out"}) as captured:
        with captured.batch(NAMES):
            model(IDS, attention_mask=MASK).last_hidden_state.sum().backward()
        model(IDS, attention_mask=MASK)
    assert (captured.stats.failed, captured.stats.without_batch, captured.silent) == (1, 1, {}), captured.stats
    assert "holds for none of the block's modules" in str(captured.stats.last_error)
    assert [(sent.site, len(sent.rows)) for sent in producer.sent] == [("r", 5), ("r", 3)]


def test_a_text_that_goes_on_from_a_prefix_cache_is_masked_by_its_own_columns() -> None:
    model = llama()
    text = torch.arange(10, 20)[None]
    special = torch.zeros_like(text)
    special[0, [1, 7]] = 1
    for masks in ({"special_tokens_mask": special}, {"special_tokens_mask": special[:, 6:]}):
        producer = Recorder()
        with capture_of(model, producer) as captured, torch.no_grad():
            cache = cache_of(model(text[:, :6], use_cache=True))
            with captured.batch(["a"], **masks):
                model(text[:, 6:], **cache_argument(model, cache))
        np.testing.assert_array_equal(producer.of("a").token_ids, [16, 18, 19])
        assert captured.stats.without_batch == 1


def test_two_texts_in_one_batch_are_told_and_the_first_is_sent() -> None:
    model, producer = gpt2(), Recorder()
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(["a"]):
        model(ALONE)
        model(ALONE + 1)
    assert captured.stats.failed == 1
    assert "begins again with other tokens" in str(captured.stats.last_error)
    require_text(producer, model, ALONE, torch.ones_like(ALONE), ["a"])


def test_the_second_text_of_classifier_free_guidance_is_told_and_not_mixed_in() -> None:
    model, producer = llama(), Recorder()
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(NAMES):
        made = model.generate(IDS, attention_mask=MASK, max_new_tokens=5, guidance_scale=1.5, **GREEDY)
    assert captured.stats.failed == 5
    require_text(producer, model, made[:, :-1], longer(MASK, made[:, :-1]))


@pytest.mark.parametrize("options", [{"num_beams": 2}, {"num_return_sequences": 2, "do_sample": True}])
def test_beams_and_several_answers_are_told_and_never_sent(options: dict[str, Any]) -> None:
    model, producer = llama(), Recorder()
    with capture_of(model, producer) as captured, torch.no_grad(), captured.batch(NAMES):
        model.generate(IDS, attention_mask=MASK, max_new_tokens=3, **{**GREEDY, **options})
    assert captured.stats.failed == 3
    assert producer.sent == []


def test_an_encoder_and_a_decoder_are_captured_each_by_itself() -> None:
    torch.manual_seed(13)
    options = {"vocab_size": 64, "d_model": 32, "d_ff": 48, "d_kv": 8, "num_layers": 2, "num_heads": 4}
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**options, decoder_start_token_id=PAD)).eval()
    with pytest.raises(ValueError, match="T5ForConditionalGeneration has an encoder and a decoder"):
        capture(model, Recorder(), {"r": "encoder.block.1"})
    read, written = Recorder(), Recorder()
    with capture(model.get_encoder(), read, {"r": "block.1"}) as encoder, torch.no_grad():
        with capture(model.get_decoder(), written, {"r": "block.1"}) as decoder:
            with encoder.batch(NAMES), decoder.batch(NAMES):
                model.generate(IDS, attention_mask=MASK, max_new_tokens=4, **GREEDY)
    assert (encoder.stats.failed, decoder.stats.failed) == (0, 0)
    assert [len(read.of(name).rows) for name in NAMES] == [5, 3]
    assert [len(written.of(name).rows) for name in NAMES] == [4, 4]
