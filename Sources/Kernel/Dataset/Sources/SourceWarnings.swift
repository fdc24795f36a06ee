// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL

/// The meaning of GDAL's warnings for an import.
enum SourceWarnings {
    /// Beginnings, or parts, of warnings without an effect on the result, with the reason.
    private static let harmless: [String] = [
        // Open options are given to every driver that may read the file.
        "does not support open option",
        // A rule of the format on its header or metadata; tables are read by their own
        // declarations.
        "bad application_id", "application_id", "user_version", "has not been registered",
        "Invalid SRS", "not declared as",
        // The import itself handles the order of axes and of rings.
        "winding order", "organizePolygons", "wrong orientation",
        // Places of elements GDAL skips and the formats allow.
        "Non closed ring", "is not a standard",
    ]

    /// The meaning of a warning in the terms of an import; the first match counts.
    private static let meanings: [(part: String, meaning: String)] = [
        (
            "Integer overflow",
            "a whole number beyond its column's type was cut to the largest of it"
        ),
        ("truncated", "a value was cut"),
        ("clamp", "a number beyond its column's type was cut to the largest of it"),
        ("out of range", "a number beyond its column's type was cut to the largest of it"),
        ("64 bit integer", "a whole number beyond its column's type was cut to the largest of it"),
        ("recode", "text could not be read in the encoding that the file states"),
        ("not UTF-8", "text is not UTF-8"), ("invalid UTF-8", "text is not UTF-8"),
        ("Invalid value type", "a value is not of its column's type"),
        ("Unexpected value", "a value is not of its column's type"),
        ("duplicate", "an item is duplicated"),
    ]

    private static let limit = 12

    /// A sentence for each kind of warning that may have changed something.
    static func notes(_ warnings: [SourceWarning]) -> [String] {
        var seen: Set<String> = []
        var notes: [String] = []
        var furtherCount = 0
        for warning in warnings where !harmless.contains(where: warning.text.contains) {
            let meaning =
                meanings.first { warning.text.lowercased().contains($0.part.lowercased()) }?.meaning
            let key = meaning ?? warning.text
            guard seen.insert(key).inserted else { continue }
            guard notes.count < limit else {
                furtherCount += 1
                continue
            }
            let place = warning.row.map { " (row \($0))" } ?? ""
            notes.append(
                meaning.map { "\($0)\(place); GDAL: \(warning.text.prefix(200))" }
                    ?? "GDAL remarks\(place): \(warning.text.prefix(200))")
        }
        if furtherCount > 0 { notes.append("GDAL has \(furtherCount) further remarks") }
        return notes
    }
}
