// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The fields of a complete `multipart/form-data` body (RFC 7578).
enum MultipartForm {
    /// The fields as `application/x-www-form-urlencoded`, in order; a file's content is a field's
    /// value like any other.
    ///
    /// Throws `invalidParameter`, naming the malformed part and the expected form, or `tooLarge`.
    static func urlEncoded(_ body: [UInt8], contentType: String) throws(Failure) -> [UInt8] {
        let delimiter = try delimiter(contentType)
        // The first delimiter may be at the very beginning.
        let bytes = Array("\r\n".utf8) + body
        var result: [UInt8] = []
        guard var found = bytes.firstRange(of: delimiter, from: 0) else { throw unfinished(0) }
        var part = 0
        while true {
            part += 1
            let start = found.upperBound
            if bytes[start...].starts(with: "--".utf8) { return result }
            guard part <= Parameters.countLimit else {
                throw Failure(.tooLarge, "more than \(Parameters.countLimit) parameters")
            }
            guard let next = bytes.firstRange(of: delimiter, from: start) else {
                throw unfinished(part)
            }
            let content = bytes[start..<next.lowerBound]
            guard let headEnd = content.firstRange(of: Array("\r\n\r\n".utf8), from: start),
                let name = parameter("name", ofHead: content[..<headEnd.lowerBound])
            else {
                throw Failure(
                    .invalidParameter,
                    "part \(part) of the form has no name: expected "
                        + "Content-Disposition: form-data; name=\"…\" and a blank line before its "
                        + "value"
                )
            }
            let value = Parameters.text(Array(content[headEnd.upperBound...]))
            if !result.isEmpty { result.append(UInt8(ascii: "&")) }
            result += (Parameters.encode(name) + "=" + Parameters.encode(value)).utf8
            found = next
        }
    }

    private static func unfinished(_ count: Int) -> Failure {
        Failure(
            .invalidParameter,
            "the form breaks off after \(count) parts: expected the boundary and -- at its end")
    }

    /// The delimiter before every part; throws `invalidParameter` when the content type has no
    /// boundary.
    static func delimiter(_ contentType: String) throws(Failure) -> [UInt8] {
        let boundary = parameter("boundary", of: contentType[...]) ?? ""
        guard 1...70 ~= boundary.utf8.count else {
            throw Failure(
                .invalidParameter,
                "content type '\(contentType.prefix(120))': expected a boundary of 1 to 70 "
                    + "characters"
            )
        }
        return Array(("\r\n--" + boundary).utf8)
    }

    /// A parameter of `Content-Disposition` in the head of a part; nil if absent.
    static func parameter(_ name: String, ofHead head: ArraySlice<UInt8>) -> String? {
        let text = Parameters.text(Array(head))
        for line in text.split(separator: "\r\n")
        where line.lowercased().hasPrefix("content-disposition:") {
            return parameter(name, of: line)
        }
        return nil
    }

    /// The value after `; name=`, quoted or not; in quotes a backslash escapes only a quote or
    /// itself.
    private static func parameter(_ wanted: String, of line: Substring) -> String? {
        var rest = line.drop { $0 != ";" }
        while rest.popFirst() == ";" {
            let name = rest.drop { $0 == " " || $0 == "\t" }.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            var value = ""
            if rest.popFirst() == "=" {
                if rest.first == "\"" {
                    rest.removeFirst()
                    while let character = rest.popFirst(), character != "\"" {
                        let isEscape =
                            character == "\\" && (rest.first == "\"" || rest.first == "\\")
                        value.append(isEscape ? rest.removeFirst() : character)
                    }
                } else {
                    value = String(rest.prefix { $0 != ";" && $0 != " " })
                }
            }
            if name.lowercased() == wanted { return value }
            rest = rest.drop { $0 != ";" }
        }
        return nil
    }
}

extension Collection<UInt8> where Index == Int {
    /// Index of the first occurrence of a non-empty byte sequence, from an index on.
    func firstRange(of bytes: [UInt8], from index: Int) -> Range<Int>? {
        guard let first = bytes.first else { return nil }
        var start = index
        while start + bytes.count <= endIndex,
            let found = self[start...(endIndex - bytes.count)].firstIndex(of: first)
        {
            let range = found..<found + bytes.count
            if self[range].elementsEqual(bytes) { return range }
            start = found + 1
        }
        return nil
    }
}
