// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A part of the screen that keys can go to.
package enum Pane: String, Hashable, Sendable, CaseIterable {
    case map, layers, results, jobs, events
}

/// Where everything lies on a screen of some size.
package struct ViewLayout: Hashable, Sendable {
    /// The first row.
    package var title: Area
    /// The last row.
    package var status: Area
    /// Where each shown pane lies, border included; the map is always shown.
    package var panes: [Pane: Area]

    /// Divides the screen: layers on the left, results on the right, jobs and events below, the map
    /// in what is left.
    ///
    /// A pane for which there is no room is not shown.
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

    /// The pane at a cell, or nil.
    package func pane(column: Int, row: Int) -> Pane? {
        panes.first { $0.value.contains(column: column, row: row) }?.key
    }
}
