# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Turns the lines of `deploy/bench locator` into the tables of Docs/accuracy.md.

usage: table.py [LINES…] <lines >tables
"""

import fileinput
import json

NAMES = {
    "exact": "as the table has it", "withoutPostcode": "without the postcode", "plain": "small ASCII letters",
    "abbreviated": "usual short forms", "oneTypo": "one slip, no postcode", "cityFirst": "town first",
    "suggest": "letter by letter", "reverse": "reverse, 2 m off",
}


def short(number):
    """Two digits that say something."""
    return f"{float(f'{number:.2g}'):,.10g}"


def cell(figure):
    if figure is None:
        return ""
    share = 100 * figure["right"] / figure["of"]
    return f"{share:.3g} % · " + " · ".join(short(figure[name]) for name in ("p50Ms", "p99Ms", "cpuMs"))


def main():
    sets = {}
    for line in fileinput.input(encoding="utf-8"):
        line = json.loads(line)
        if line.get("case") == "build":
            print(f"`{line['set']}`: {line['houses']:,} addresses on {line['streets']:,} streets, with the "
                  f"{line['places']:,} places of the gazetteer; {line['bytes'] / 1e6:.1f} MB, built in "
                  f"{line['buildMs'] / 1000:.1f} s, opened in {line['openMs']:.0f} ms.\n")
        elif "figures" in line:
            sets.setdefault(line["set"], []).append(line)
    for name, lines in sets.items():
        peers = list(dict.fromkeys(peer for line in lines for peer in line["figures"]))
        titles = ["Cairn" if peer == "cairn" else peer for peer in peers]
        print(f"| {name} | " + " | ".join(titles) + " |")
        print("|---|" + "---|" * len(peers))
        for line in lines:
            print(f"| {NAMES[line['case']]} | " + " | ".join(cell(line["figures"].get(peer)) for peer in peers) + " |")
        print()
        for peer in peers[1:]:
            ratios = [line["ratios"][peer]["cpu"] for line in lines if peer in line["ratios"]]
            print(f"- {peer}: {min(ratios):,.0f} to {max(ratios):,.0f} times Cairn's processor time")
        print()


main()
