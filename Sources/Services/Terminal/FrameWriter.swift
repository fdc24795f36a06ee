// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Encodes the difference between consecutive frames as terminal output.
package struct FrameWriter: Sendable {
    private let usesColour: Bool
    private var shown: Frame?

    /// Starts with an unknown screen.
    ///
    /// Without colour, bold, faint and reversed are still used.
    package init(usesColour: Bool) { self.usesColour = usesColour }

    /// Forgets the last frame, so that the next one is written completely.
    package mutating func reset() { shown = nil }

    /// The bytes for `frame`: all cells after a change of size, otherwise only changed ones.
    package mutating func bytes(for frame: Frame) -> [UInt8] {
        var output: [UInt8] = []
        let old = shown.flatMap { $0.columns == frame.columns && $0.rows == frame.rows ? $0 : nil }
        if old == nil { output += "\u{1B}[0m\u{1B}[2J".utf8 }
        var style: Style = .plain
        for row in 0..<frame.rows {
            write(row: row, of: frame, over: old, style: &style, into: &output)
        }
        if style != .plain { output += "\u{1B}[0m".utf8 }
        shown = frame
        return output
    }

    private func write(
        row: Int, of frame: Frame, over old: Frame?, style: inout Style, into output: inout [UInt8]
    ) {
        var cursor = -1
        for column in 0..<frame.columns {
            let cell = frame[column, row]
            if cell == (old?[column, row] ?? .blank) { continue }
            guard let character = cell.character else { continue }
            if cursor != column { output += "\u{1B}[\(row + 1);\(column + 1)H".utf8 }
            if cell.style != style {
                output += code(cell.style).utf8
                style = cell.style
            }
            output += String(character).utf8
            // Terminals disagree on the width of marks: the next character is positioned
            // explicitly.
            cursor =
                character.unicodeScalars.count > 1
                ? -1 : column + TextWidth.columns(of: character)
        }
    }

    /// The SGR sequence for exactly this style.
    private func code(_ style: Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isReversed { codes.append("7") }
        if usesColour, let colour = style.foreground { codes.append("38;5;\(colour)") }
        if usesColour, let colour = style.background { codes.append("48;5;\(colour)") }
        return "\u{1B}[" + codes.joined(separator: ";") + "m"
    }
}
