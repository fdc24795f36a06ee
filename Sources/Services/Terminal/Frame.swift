// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Appearance of a cell.
package struct Style: Hashable, Sendable {
    /// A colour of the 256-colour palette; nil for the terminal's default.
    package var foreground: UInt8?
    /// A colour of the 256-colour palette; nil for the terminal's default.
    package var background: UInt8?
    package var isBold: Bool
    package var isDim: Bool
    /// Whether foreground and background are swapped.
    package var isReversed: Bool

    /// Makes a style; by default the terminal's own.
    package init(
        foreground: UInt8? = nil, background: UInt8? = nil, isBold: Bool = false,
        isDim: Bool = false, isReversed: Bool = false
    ) {
        self.foreground = foreground
        self.background = background
        self.isBold = isBold
        self.isDim = isDim
        self.isReversed = isReversed
    }

    /// The terminal's default style.
    package static let plain = Style()
    package static let bold = Style(isBold: true)
    package static let dim = Style(isDim: true)
    /// Foreground and background swapped.
    package static let reversed = Style(isReversed: true)
}

/// One character cell.
package struct Cell: Hashable, Sendable {
    /// The character; nil for the further columns of a wide one.
    package var character: Character?
    package var style: Style

    package init(_ character: Character?, _ style: Style = .plain) {
        self.character = character
        self.style = style
    }

    /// An empty cell.
    package static let blank = Cell(" ")
}

/// A rectangle of cells, columns and rows counted from the top left.
package struct Area: Hashable, Sendable {
    package var column: Int
    package var row: Int
    /// Number of columns; ≥ 0.
    package var columns: Int
    /// Number of rows; ≥ 0.
    package var rows: Int

    /// Makes an area; negative sizes become 0.
    package init(column: Int, row: Int, columns: Int, rows: Int) {
        self.column = column
        self.row = row
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    /// Whether the cell is inside.
    package func contains(column: Int, row: Int) -> Bool {
        self.column..<self.column + columns ~= column && self.row..<self.row + rows ~= row
    }

    /// The area without its first and last rows and columns.
    package var inset: Area {
        Area(column: column + 1, row: row + 1, columns: columns - 2, rows: rows - 2)
    }
}

/// The complete content of the terminal at one moment.
package struct Frame: Hashable, Sendable {
    /// Number of columns; 1…1,000.
    package let columns: Int
    /// Number of rows; 1…1,000.
    package let rows: Int
    /// The cells in row-major order.
    package private(set) var cells: [Cell]

    /// A blank frame; sizes are clamped to 1…1,000.
    package init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), 1000)
        self.rows = min(max(rows, 1), 1000)
        cells = Array(repeating: .blank, count: self.columns * self.rows)
    }

    /// The area of the whole frame.
    package var area: Area { Area(column: 0, row: 0, columns: columns, rows: rows) }

    /// The cell there; outside the frame, writes have no effect and reads return a blank.
    package subscript(column: Int, row: Int) -> Cell {
        get {
            area.contains(column: column, row: row) ? cells[row * columns + column] : .blank
        }
        set {
            guard area.contains(column: column, row: row) else { return }
            let index = row * columns + column
            if cells[index].character != newValue.character { clearSign(at: index, row: row) }
            cells[index] = newValue
        }
    }

    /// Blanks all columns of the wide character that covers the cell.
    private mutating func clearSign(at index: Int, row: Int) {
        var first = index
        while cells[first].character == nil, first > row * columns { first -= 1 }
        var next = first + 1
        while next < (row + 1) * columns, cells[next].character == nil {
            cells[next] = Cell(" ", cells[next].style)
            next += 1
        }
        if first != index || next > first + 1 { cells[first] = Cell(" ", cells[first].style) }
    }

    /// Writes one line of displayable text from `column` on, cut at `limit` columns and at the
    /// frame.
    ///
    /// Returns the column after the last one written.
    @discardableResult
    package mutating func put(
        _ text: some StringProtocol, column: Int, row: Int, limit: Int = .max, style: Style = .plain
    ) -> Int {
        let end = min(limit > columns ? columns : column + max(0, limit), columns)
        var at = column
        for character in TextWidth.displayable(text) {
            let width = TextWidth.columns(of: character)
            if at + width > end { break }
            if area.contains(column: at, row: row) {
                let start = row * columns
                for column in at..<at + width { clearSign(at: start + column, row: row) }
                cells[start + at] = Cell(TextWidth.agreed(character), style)
                for column in at + 1..<at + width { cells[start + column] = Cell(nil, style) }
            }
            at += width
        }
        return at
    }

    package mutating func clear(_ area: Area, style: Style = .plain) {
        for row in area.row..<area.row + area.rows {
            for column in area.column..<area.column + area.columns {
                self[column, row] = Cell(" ", style)
            }
        }
    }

    /// Draws a border just inside the area, with a title in its upper edge.
    package mutating func border(_ area: Area, title: String, style: Style) {
        guard area.columns >= 2, area.rows >= 2 else { return }
        let (right, bottom) = (area.column + area.columns - 1, area.row + area.rows - 1)
        for column in area.column...right {
            self[column, area.row] = Cell("─", style)
            self[column, bottom] = Cell("─", style)
        }
        for row in area.row...bottom {
            self[area.column, row] = Cell("│", style)
            self[right, row] = Cell("│", style)
        }
        self[area.column, area.row] = Cell("┌", style)
        self[right, area.row] = Cell("┐", style)
        self[area.column, bottom] = Cell("└", style)
        self[right, bottom] = Cell("┘", style)
        if area.columns > 6 {
            put(
                " " + TextWidth.truncated(title, to: area.columns - 6) + " ",
                column: area.column + 2, row: area.row, style: style)
        }
    }

    /// The characters as text, one line per row, without trailing spaces.
    package var text: String {
        (0..<rows).map { row in
            var line = ""
            for column in 0..<columns {
                if let character = self[column, row].character { line.append(character) }
            }
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}
