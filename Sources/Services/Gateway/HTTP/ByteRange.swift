// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The bytes of a file or picture that a `Range` header selects (RFC 9110, section 14.1.2).
enum ByteRange: Hashable, Sendable {
    /// All of them: the header is absent, malformed, of another unit, or names several ranges.
    case whole
    case part(Range<Int>)
    /// No byte is in the range.
    case unsatisfiable

    /// Parses the header for content of that length.
    init(_ header: String, of byteCount: Int) {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else {
            self = .whole
            return
        }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else {
            self = .whole
            return
        }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last) where last.map { $0 >= first } ?? ends[1].isEmpty:
            self =
                first < byteCount
                ? .part(first..<min(last ?? .max, byteCount - 1) + 1)
                : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            // Content-Range cannot name the whole of empty content.
            self =
                count == 0
                ? .unsatisfiable
                : byteCount == 0 ? .whole : .part(max(0, byteCount - count)..<byteCount)
        default: self = .whole
        }
    }

    /// A number of ASCII digits; the largest one for a larger number, nil for any other text.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int(text) ?? .max
    }
}

extension GatewayResponse {
    /// What the conditions and the range of a GET or HEAD leave of the answer (RFC 9110, sections
    /// 13 and 14): 304, 206 or 416; answers without an entity tag stay as they are.
    func selected(by request: GatewayRequest) -> GatewayResponse {
        guard status == 200, !request.isPost, let tag = headers["ETag"] else { return self }
        var selected = self
        selected.headers["Accept-Ranges"] = "bytes"
        guard !request.knows(tag) else {
            (selected.status, selected.body, selected.file) = (304, [], nil)
            return selected
        }
        guard request.ifRange.isEmpty || request.ifRange == tag else { return selected }
        let byteCount = file?.count ?? body.count
        switch ByteRange(request.range, of: byteCount) {
        case .whole: break
        case .part(let range):
            selected.status = 206
            selected.headers["Content-Range"] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)"
            if file == nil {
                selected.body = Array(body[range])
            } else {
                selected.file?.range = range
            }
        case .unsatisfiable:
            var refusal = GatewayResponse(
                status: 416,
                body: ErrorBody.json(
                    code: 416,
                    message: "range '\(request.range.prefix(80))' is beyond the \(byteCount) bytes",
                    details: []))
            refusal.headers = selected.headers
            refusal.headers["Content-Range"] = "bytes */\(byteCount)"
            refusal.headers["ETag"] = nil
            refusal.headers["Cache-Control"] = nil
            (refusal.sequence, refusal.user, refusal.audited) = (sequence, user, audited)
            return refusal
        }
        return selected
    }
}

extension GatewayRequest {
    /// Whether the client has the content of that entity tag (RFC 9110, section 13.1.2).
    func knows(_ entityTag: String) -> Bool {
        noneMatch.split(separator: ",").contains { each in
            let tag = each.drop { $0 == " " }
            return tag == "*"
                || (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag)
                    .prefix { $0 != " " } == entityTag
        }
    }
}
