// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// WHERE clauses of the REST as SQLite takes them.
enum WhereClause {
    /// The clause with `date '…'` and `timestamp '…'` as texts that GeoPackages have; text and
    /// names in quotes stay as they are.
    static func sqlite(_ clause: String) -> String {
        var result = ""
        var rest = Substring(clause)
        while let first = rest.first {
            if first == "'" || first == "\"" {
                let quoted = quotedPart(rest)
                result += quoted
                rest = rest.dropFirst(quoted.count)
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(word.count)
                let next = rest.drop { $0 == " " }
                if ["DATE", "TIMESTAMP"].contains(word.uppercased()), next.first == "'" {
                    let quoted = quotedPart(next)
                    let form = word.uppercased() == "DATE" && quoted.count == 12
                    // A day is a beginning of a time, and compares as one.
                    result +=
                        form ? quoted : "strftime('%Y-%m-%dT%H:%M:%fZ', \(quoted))"
                    rest = next.dropFirst(quoted.count)
                } else {
                    result += word
                }
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func quotedPart(_ text: Substring) -> Substring {
        guard let mark = text.first else { return text }
        var end = text.index(after: text.startIndex)
        while end < text.endIndex {
            let next = text.index(after: end)
            if text[end] == mark {
                guard next < text.endIndex, text[next] == mark else { return text[..<next] }
                end = text.index(after: next)
            } else {
                end = next
            }
        }
        return text
    }
}
