// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A part of the screen that can have the keyboard focus.
package enum Pane: String, Hashable, Sendable, CaseIterable {
    case map, layers, results, jobs, events
}

/// The arrangement of the screen at a given size.
package struct ViewLayout: Hashable, Sendable {
    /// Title bar, the first row.
    package var title: Area
    /// Status bar, the last row.
    package var status: Area
    /// Areas of the visible panes, including borders; the map is always visible.
    package var panes: [Pane: Area]

    /// Arranges the screen: layers on the left, results on the right, jobs and events below, the
    /// map in the remaining area.
    ///
    /// A pane without enough room is hidden.
    package init(columns: Int, rows: Int, shown: Set<Pane>) {
        title = Area(column: 0, row: 0, columns: columns, rows: 1)
        status = Area(column: 0, row: rows - 1, columns: columns, rows: 1)
        panes = [:]
        var middle = Area(column: 0, row: 1, columns: columns, rows: rows - 2)
        let low = [Pane.jobs, .events].filter(shown.contains)
        if !low.isEmpty, middle.rows >= 14 {
            let height = min(8, middle.rows / 3)
            middle.rows -= height
            let width = columns / low.count
            for (index, pane) in low.enumerated() {
                panes[pane] = Area(
                    column: index * width, row: middle.row + middle.rows,
                    columns: index == low.count - 1 ? columns - index * width : width,
                    rows: height)
            }
        }
        if shown.contains(.results), columns >= 60 {
            let width = min(48, columns * 2 / 5)
            middle.columns -= width
            panes[.results] = Area(
                column: middle.columns, row: middle.row, columns: width, rows: middle.rows)
        }
        if shown.contains(.layers), middle.columns >= 50 {
            let width = min(30, middle.columns / 3)
            panes[.layers] = Area(column: 0, row: middle.row, columns: width, rows: middle.rows)
            middle.column = width
            middle.columns -= width
        }
        panes[.map] = middle
    }

    /// The pane at a cell; nil outside of all.
    package func pane(column: Int, row: Int) -> Pane? {
        panes.first { $0.value.contains(column: column, row: row) }?.key
    }
}
