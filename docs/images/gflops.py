"""Draws docs/images/gflops.svg from the CSV file of `KernelBenchmark.update -p d=256,768,2048,4096`.

python3 docs/images/gflops.py FILE > docs/images/gflops.svg
"""

import csv
import re
import sys

SERIES = [
    ("plumbline", "#1f77b4", ""),
    ("OpenBLAS ssyrk", "#1f77b4", "4 3"),
    ("plumbline, doubles", "#d2691e", ""),
    ("OpenBLAS dsyrk", "#d2691e", "4 3"),
]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 225, 190, 40, 62, 40, 14


def main():
    rates = {}
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for one in csv.DictReader(file):
            shape = re.fullmatch(r"update, d = (\d+), rows = (\d+)", one["work"])
            if shape:
                d, rows = (int(size) for size in shape.groups())
                rates.setdefault(d, {}).setdefault(one["variant"], {})[rows] = float(one["median"])
    most = 20 * (1 + int(max(max(v.values()) for of in rates.values() for v in of.values()) // 20))
    total = LEFT + len(rates) * (WIDTH + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {TOP + HEIGHT + BOTTOM}" '
        'font-family="sans-serif" font-size="11" role="img" '
        'aria-label="GFLOP/s of moment updates by width and rows, beside OpenBLAS">',
        f'<rect width="{total}" height="{TOP + HEIGHT + BOTTOM}" fill="white"/>',
        '<text x="8" y="16" font-size="13">Updates of a moment by one thread: GFLOP/s, medians</text>',
    ]
    for number, (name, colour, dashes) in enumerate(SERIES):
        x = 8 + number * total / len(SERIES)
        out.append(f'<path d="M{x:.0f} 32h24" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        out.append(f'<text x="{x + 30:.0f}" y="36">{name}</text>')
    for panel, d in enumerate(sorted(rates)):
        draw(out, LEFT + panel * (WIDTH + GAP), d, rates[d], most, panel == 0)
    out.append("</svg>")
    print("\n".join(out))


def draw(out, left, d, by_variant, most, labelled):
    sizes = sorted({rows for rates in by_variant.values() for rows in rates})
    out.append(f'<text x="{left + WIDTH / 2:.0f}" y="{TOP - 6}" text-anchor="middle">d = {d:,}</text>')
    for tick in range(0, most + 1, 20):
        y = TOP + HEIGHT * (1 - tick / most)
        out.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        if labelled:
            out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
    at = {rows: left + WIDTH * (0.5 + index) / len(sizes) for index, rows in enumerate(sizes)}
    for rows in sizes:
        out.append(f'<text x="{at[rows]:.0f}" y="{TOP + HEIGHT + 15}" text-anchor="middle">{rows:,}</text>')
    out.append(f'<text x="{left + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 31}" text-anchor="middle">rows</text>')
    for name, colour, dashes in SERIES:
        points = [(at[rows], TOP + HEIGHT * (1 - rate / most)) for rows, rate in sorted(by_variant[name].items())]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points]


main()
