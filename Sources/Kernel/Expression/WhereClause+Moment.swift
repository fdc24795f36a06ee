// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension WhereClause {
    /// The clause with its request's moment in place of `CURRENT_TIMESTAMP`, and the day in UTC in
    /// place of `CURRENT_DATE`.
    ///
    /// Called once per request, so that the clause means the same wherever and whenever it is
    /// evaluated. Malformed text stays as it is, and fails later.
    public static func dated(_ text: String, at moment: Timestamp) -> String {
        guard text.utf8.count <= lengthLimit, text.uppercased().contains("CURRENT_") else {
            return text
        }
        let milliseconds = Int64((Double(moment.microseconds) / 1000).rounded(.down))
        let iso = CalendarClock(milliseconds: milliseconds).text
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var copied = 0
        var tokenizer = Tokenizer(text)
        while let token = try? tokenizer.next(), token.kind != .end {
            let literal =
                switch token.keyword {
                case "CURRENT_DATE": "DATE '\(iso.prefix(10))'"
                case "CURRENT_TIMESTAMP":
                    "TIMESTAMP '\(iso.prefix(10)) \(iso.dropFirst(11).dropLast())'"
                default: ""
                }
            guard !literal.isEmpty, case .word(let word) = token.kind else { continue }
            result.append(contentsOf: scalars[copied..<token.position - 1])
            result.append(contentsOf: literal.unicodeScalars)
            copied = token.position - 1 + word.unicodeScalars.count
        }
        result.append(contentsOf: scalars[copied...])
        return String(result)
    }
}
