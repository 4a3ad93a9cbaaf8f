"""Draws docs/images/study.svg from docs/data/study.csv.

python3 docs/images/study.py docs/data/study.csv > docs/images/study.svg
"""

import csv
import sys

SERIES = [
    ("default", "#1f77b4", ""),
    ("holds one", "#888888", "2 3"),
    ("Hotelling", "#d2691e", ""),
    ("MMD", "#d2691e", "4 3"),
    ("PCA error", "#2e8b57", ""),
    ("PCA share", "#2e8b57", "4 3"),
    ("PSI", "#8b5a9b", ""),
    ("classifier", "#8b5a9b", "4 3"),
    ("gap", "#c03030", ""),
]
LABELS = {"default": "the default", "holds one": "all that hold one"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 225, 190, 40, 78, 40, 14


def main():
    panels = {}
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for one in csv.DictReader(file):
            if one["traffic"] != "usual":
                panel = panels.setdefault(f"{one['traffic']}, {int(one['rows']):,} rows", {})
                panel.setdefault(one["detector"], {})[int(one["foreign (%)"])] = float(one["alarms (%)"])
    total = LEFT + len(panels) * (WIDTH + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {TOP + HEIGHT + BOTTOM}" '
        'font-family="sans-serif" font-size="11" role="img" '
        'aria-label="Windows found drifted by share of foreign requests, the default beside rivals">',
        f'<rect width="{total}" height="{TOP + HEIGHT + BOTTOM}" fill="white"/>',
        '<text x="8" y="16" font-size="13">Percent of windows found, each level at 5 % of the same clean windows</text>',
    ]
    for number, (name, colour, dashes) in enumerate(SERIES):
        x, y = 8 + number // 2 * total / 5, 32 + number % 2 * 16
        out.append(f'<path d="M{x:.0f} {y}h24" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        out.append(f'<text x="{x + 30:.0f}" y="{y + 4}">{LABELS.get(name, name)}</text>')
    for number, (title, panel) in enumerate(panels.items()):
        draw(out, LEFT + number * (WIDTH + GAP), title, panel, number == 0)
    out.append("</svg>")
    print("\n".join(out))


def draw(out, left, title, panel, labelled):
    shares = sorted(panel["default"])
    out.append(f'<text x="{left + WIDTH / 2:.0f}" y="{TOP - 6}" text-anchor="middle">{title}</text>')
    for tick in range(0, 101, 20):
        y = TOP + HEIGHT * (1 - tick / 100)
        out.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        if labelled:
            out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
    at = {share: left + WIDTH * (0.5 + index) / len(shares) for index, share in enumerate(shares)}
    for share in shares:
        out.append(f'<text x="{at[share]:.0f}" y="{TOP + HEIGHT + 15}" text-anchor="middle">{share}</text>')
    out.append(f'<text x="{left + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 31}" text-anchor="middle">% of requests</text>')
    for name, colour, dashes in reversed(SERIES):
        points = [(at[share], TOP + HEIGHT * (1 - found / 100)) for share, found in sorted(panel[name].items())]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points]


main()
