from pathlib import Path

import numpy as np
import pytest

from plumbline_sae.dumps import Request, write_dump

datasets = pytest.importorskip("datasets")

HOOK = "blocks.5.hook_resid_post"


def _requests(lengths: list[int], ids: bool = True) -> list[Request]:
    random = np.random.default_rng(3)
    return [
        Request(random.normal(size=(rows, 4)).astype(np.float32), token_ids=np.arange(rows) + 100 if ids else None)
        for rows in lengths
    ]


def test_contexts_hold_rows_of_one_request_in_their_order(tmp_path: Path) -> None:
    from plumbline_sae.caches import saelens_cache

    requests = _requests([7, 2, 6])
    files = write_dump(tmp_path / "group.safetensors", requests)
    cached = saelens_cache(files, tmp_path / "cache", HOOK, 3)
    assert (cached.contexts, cached.rows_left_out) == (4, 3)
    read = datasets.load_from_disk(str(tmp_path / "cache")).with_format("numpy")
    expected = [requests[0].activations[:3], requests[0].activations[3:6], *np.split(requests[2].activations, 2)]
    assert np.array_equal(np.stack([np.asarray(row) for row in read[HOOK]]), np.stack(expected))
    assert np.asarray(read["token_ids"])[1].tolist() == [103, 104, 105]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_without_token_ids_the_cache_has_activations_alone(tmp_path: Path) -> None:
    from plumbline_sae.caches import saelens_cache

    files = write_dump(tmp_path / "group.safetensors", _requests([4], ids=False))
    saelens_cache(files, tmp_path / "cache", HOOK, 2, dtype="float16")
    assert datasets.load_from_disk(str(tmp_path / "cache")).column_names == [HOOK]


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    from plumbline_sae.caches import saelens_cache

    files = write_dump(tmp_path / "group.safetensors", _requests([4]))
    with pytest.raises(ValueError, match="no request has 5 rows"):
        saelens_cache(files, tmp_path / "cache", HOOK, 5)
    with pytest.raises(ValueError, match="expected 1 or more"):
        saelens_cache(files, tmp_path / "cache", HOOK, 0)
    with pytest.raises(FileExistsError, match="exists"):
        saelens_cache(files, tmp_path, HOOK, 2)
