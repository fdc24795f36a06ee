// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How pages look, by day and by night.
enum PageStyle {
    static let text = #"""
        :root { color-scheme: light dark; --ink: #1f2a33; --paper: #fbfaf7; --quiet: #64707a; --line: #dcd9d1;
          --accent: #0b6b8a; --card: #ffffff; --warn: #8a4b00; --warn-paper: #fff3df; --sea: #e4edf1; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e3e6e8; --paper: #16191c; --quiet: #98a3ab; --line: #343b41; --accent: #6bc0dc;
            --card: #1e2327; --warn: #ffcf8b; --warn-paper: #3a2a12; --sea: #26343b; } }
        * { box-sizing: border-box; }
        body { margin: 0; color: var(--ink); background: var(--paper); line-height: 1.5;
          font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 16px; }
        header, main, footer { max-width: 78rem; margin: 0 auto; padding: 0.6rem 1.2rem; }
        header { border-bottom: 1px solid var(--line); }
        footer { border-top: 1px solid var(--line); color: var(--quiet); font-size: 0.9rem; margin-top: 2rem; }
        h1 { font-size: 1.7rem; margin: 0.8rem 0 0.4rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.15rem; margin: 1.4rem 0 0.3rem; }
        h3 { font-size: 1rem; margin: 1rem 0 0.2rem; }
        a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.15em; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .quiet { color: var(--quiet); font-weight: normal; font-size: 0.92rem; margin: 0.2rem 0; }
        .none { color: var(--quiet); }
        .notice, .past { padding: 0.6rem 0.8rem; border-left: 4px solid var(--warn); background: var(--warn-paper);
          color: var(--warn); }
        ul.cards { list-style: none; padding: 0; display: grid; gap: 0.6rem;
          grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); }
        ul.cards li { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.8rem;
          overflow-wrap: anywhere; }
        ul.layers { list-style: none; padding-left: 0; }
        ul.layers ul.layers { padding-left: 1.2rem; }
        ul.layers li { margin: 0.25rem 0; overflow-wrap: anywhere; }
        .symbol { vertical-align: middle; margin-right: 0.4rem; background: #fff; border-radius: 3px; }
        .columns { display: grid; gap: 1.4rem; grid-template-columns: minmax(0, 1fr) minmax(14rem, 20rem); }
        @media (max-width: 55rem) { .columns { grid-template-columns: minmax(0, 1fr); } }
        #map { height: 480px; background: var(--sea); border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
        #map > img { width: 100%; height: 100%; object-fit: contain; }
        form { display: flex; flex-wrap: wrap; gap: 0.7rem; align-items: end; margin: 0.6rem 0; }
        label { display: grid; gap: 0.15rem; flex: 1 1 13rem; font-size: 0.9rem; color: var(--quiet); }
        input, button { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line);
          border-radius: 5px; padding: 0.4rem 0.6rem; min-width: 0; }
        label.switch { display: inline; } label.switch input { margin-right: 0.3rem; }
        button { background: var(--accent); color: var(--paper); border-color: var(--accent); cursor: pointer; }
        .wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
        table { border-collapse: collapse; width: 100%; font-size: 0.92rem; background: var(--card); }
        caption { text-align: left; font-weight: 600; padding: 0.5rem 0.7rem; background: var(--card); }
        th, td { text-align: left; padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
        th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
        td { max-width: 26rem; overflow-wrap: break-word; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        tbody tr:last-child > * { border-bottom: 0; }
        #found .wide { margin: 0.7rem 0; }
        #found th[scope=row] { width: 12rem; }
        dl { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.1rem 1rem; margin: 0.4rem 0; }
        dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
        summary { cursor: pointer; color: var(--accent); margin: 0.5rem 0; }
        progress { width: 14rem; vertical-align: middle; }

        """#
}
