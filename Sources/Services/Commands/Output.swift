// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Terminal

/// Output of a command: JSON Lines or text, on standard output.
struct Output: Sendable {
    /// Whether answers are JSON Lines.
    let isJSON: Bool

    /// Writes one JSON line.
    func record(_ value: some Encodable) throws {
        try write(String(decoding: try CairnJSON.encode(value), as: UTF8.self) + "\n")
    }

    /// Writes a line of text; control characters in it become `·`.
    func line(_ text: String) throws { try write(TextWidth.displayable(text) + "\n") }

    /// Writes lines of text.
    func lines(_ lines: [String]) throws {
        try write(lines.map { TextWidth.displayable($0) + "\n" }.joined())
    }

    /// Writes text unchanged.
    func write(_ text: String) throws {
        guard StandardStream.output.write(text) else {
            throw Failure(.unreadable, "standard output cannot be written")
        }
    }

    /// Writes a message to standard error.
    static func diagnose(_ sentence: String) {
        StandardStream.error.write("cairn: " + TextWidth.displayable(sentence) + "\n")
    }
}

/// Aligned columns.
struct Table {
    private let header: [String]
    private var rows: [[String]] = []
    private let numberColumns: Set<Int>

    /// Starts a table; the columns named in `numbers` are aligned to the right.
    init(_ header: [String], numbers: Set<Int> = []) {
        self.header = header
        numberColumns = numbers
    }

    mutating func add(_ row: [String]) { rows.append(row.map { TextWidth.displayable($0) }) }

    /// The header in capitals and the rows, two spaces between columns.
    var lines: [String] {
        let all = [header.map { $0.uppercased() }] + rows
        let widths = header.indices.map { column in
            all.map { TextWidth.columns(of: $0[column]) }.max() ?? 0
        }
        return all.map { row in
            let cells = row.indices.map { column in
                TextWidth.padded(
                    row[column], to: widths[column], isNumber: numberColumns.contains(column))
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
