// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry

/// Numbers in the fields of tables.
enum TableNumber {
    /// A finite number, blanks apart; nil for other text.
    static func read(_ text: String) -> Double? {
        // A table separated by another character may use commas as decimal separators.
        let plain = text.filter { $0 != " " }
        let isDecimalComma = plain.count { $0 == "," } == 1 && !plain.contains(".")
        let decimal = isDecimalComma ? plain.replacing(",", with: ".") : plain
        guard let number = Double(decimal), number.isFinite else { return nil }
        return number
    }

    /// A position on the earth, longitude and latitude; nil for other texts.
    static func place(_ longitude: String, _ latitude: String) -> Coordinate? {
        guard let x = read(longitude), let y = read(latitude), abs(x) <= 180, abs(y) <= 90 else {
            return nil
        }
        return Coordinate(x: x, y: y)
    }
}
