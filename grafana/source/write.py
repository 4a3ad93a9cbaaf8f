"""Writes the dashboards that are described here: ../*.json in the classic form, ../v2/*.json as resources of schema v2.

    python grafana/source/write.py           # writes them
    python grafana/source/write.py --check   # exit code 1 where a file is another, or Grafana's own types miss a part

The check needs grafana-foundation-sdk 0.0.21 and Python 3.11, the rest nothing but Python 3.10.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from classic import classic
from fleet import FLEET
from one_site import ONE_SITE
from pipeline import PIPELINE
from v2 import v2

FOLDER = Path(__file__).resolve().parent.parent


def files() -> dict[Path, str]:
    made = {}
    for board in (FLEET, ONE_SITE, PIPELINE):
        for path, content in ((FOLDER, classic(board)), (FOLDER / "v2", v2(board))):
            made[path / f"{board.uid}.json"] = json.dumps(content, indent=2) + "\n"
    return made


def check() -> list[str]:
    from types_of_grafana import misread

    wrong = []
    for path, text in files().items():
        if not path.is_file() or path.read_text() != text:
            wrong.append(f"{path.name} in {path.parent.name}/ is not what grafana/source describes: run write.py")
        wrong += [f"{path.parent.name}/{path.name}: {part}" for part in misread(json.loads(text))]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes Plumbline's dashboards.")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the files, and check their types")
    if parser.parse_args().check:
        wrong = check()
        print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
        return 1 if wrong else 0
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
