// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A whole identify request over HTTP/1.1 in its ordinary form, read straight from the bytes.
///
/// Only what nearly every client sends is taken: one GET without a body, the URL's words in their
/// usual letter case, headers that change nothing. Whatever else it is, HTTP or not, is nil here
/// and belongs to the HTTP library, which then sees the very same bytes.
struct FastIdentifyRequest: Equatable {
    /// The map's name as it stands in the URL: letters, digits and `_`, at least one, perhaps after
    /// a folder's name and `/`.
    let map: String
    /// What follows `?`, still percent-encoded.
    let query: ArraySlice<UInt8>
    /// The values of `X-Esri-Authorization` or `Authorization`, of `Referer`, `Origin` and `Host`;
    /// nil where they are absent.
    private(set) var authorization: String?
    private(set) var referer: String?
    private(set) var origin: String?
    private(set) var host: String?
    /// Those of `X-Forwarded-For`, with commas between several, and the last of
    /// `X-Forwarded-Proto`.
    private(set) var forwardedFor: String?
    private(set) var forwardedProto: String?

    /// The most bytes read here.
    static let byteLimit = 16_384
    private static let headerLimit = 100
    private static let start = Array("GET /arcgis/rest/services/".utf8)
    private static let resource = Array("/MapServer/identify?".utf8)
    private static let version = Array("HTTP/1.1\r\n".utf8)

    /// Nil unless the bytes are exactly one such request.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.byteLimit, Self.lies(Self.start, in: bytes, at: 0) else {
            return nil
        }
        let nameStart = Self.start.count
        guard var nameEnd = Self.skip(bytes, from: nameStart, while: Self.isNameByte),
            nameEnd > nameStart
        else { return nil }
        if !Self.lies(Self.resource, in: bytes, at: nameEnd) {
            guard bytes[nameEnd] == UInt8(ascii: "/"),
                let end = Self.skip(bytes, from: nameEnd + 1, while: Self.isNameByte),
                end > nameEnd + 1, Self.lies(Self.resource, in: bytes, at: end)
            else { return nil }
            nameEnd = end
        }
        let queryStart = nameEnd + Self.resource.count
        guard let queryEnd = Self.skip(bytes, from: queryStart, while: { 0x21...0x7e ~= $0 }),
            bytes[queryEnd] == UInt8(ascii: " "),
            Self.lies(Self.version, in: bytes, at: queryEnd + 1)
        else { return nil }
        map = String(decoding: bytes[nameStart..<nameEnd], as: UTF8.self)
        query = bytes[queryStart..<queryEnd]
        guard readHeaders(bytes, from: queryEnd + 1 + Self.version.count) else { return nil }
    }

    /// Whether these bytes are exactly one request without a body, so that the next byte begins
    /// another.
    static func isWholeRequest(_ bytes: [UInt8]) -> Bool {
        guard
            lies(Array("GET ".utf8), in: bytes, at: 0)
                || lies(Array("HEAD ".utf8), in: bytes, at: 0)
        else { return false }
        let end = Array("\r\n\r\n".utf8)
        var place = 0
        while place + 4 <= bytes.count {
            if bytes[place] == end[0], lies(end, in: bytes, at: place) {
                return place + 4 == bytes.count
            }
            place += 1
        }
        return false
    }

    // MARK: Headers

    /// Whether they are plain.
    private mutating func readHeaders(_ bytes: [UInt8], from start: Int) -> Bool {
        var offset = start
        for _ in 0...Self.headerLimit {
            if Self.lies([0x0D, 0x0A], in: bytes, at: offset) { return offset + 2 == bytes.count }
            guard let nameEnd = Self.skip(bytes, from: offset, while: Self.isTokenByte),
                nameEnd > offset, bytes[nameEnd] == UInt8(ascii: ":"),
                let end = Self.skip(
                    bytes, from: nameEnd + 1, while: { $0 >= 0x20 && $0 != 0x7f || $0 == 9 }),
                Self.lies([0x0D, 0x0A], in: bytes, at: end)
            else { return false }
            let (name, value) = (bytes[offset..<nameEnd], bytes[(nameEnd + 1)..<end])
            guard Self.changesNothing(name, value), keep(name, value) else { return false }
            offset = end + 2
        }
        return false
    }

    /// Keeps what is looked at; false for a second name of this server.
    ///
    /// Esri's header goes before the standard one, which may be a proxy's.
    private mutating func keep(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
        switch name.count {
        case 4 where Self.isWord("host", name):
            if host != nil { return false }
            host = Self.text(value)
        case 6 where Self.isWord("origin", name): origin = Self.text(value)
        case 7 where Self.isWord("referer", name): referer = Self.text(value)
        case 13 where Self.isWord("authorization", name):
            if authorization == nil { authorization = Self.text(value) }
        case 15 where Self.isWord("x-forwarded-for", name):
            forwardedFor = (forwardedFor.map { $0 + "," } ?? "") + Self.text(value)
        case 17 where Self.isWord("x-forwarded-proto", name): forwardedProto = Self.text(value)
        case 20 where Self.isWord("x-esri-authorization", name): authorization = Self.text(value)
        default: break
        }
        return true
    }

    private static func text(_ value: ArraySlice<UInt8>) -> String {
        String(decoding: trimmed(value), as: UTF8.self)
    }

    /// Whether a header leaves the answer as it is, and the connection open.
    private static func changesNothing(
        _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>
    ) -> Bool {
        // Most names have another length than all of these.
        switch name.count {
        case 2: !isWord("te", name)
        case 6:
            isWord("accept", name)
                ? !mentionsPage(value) : !isWord("expect", name) && !isWord("cookie", name)
        case 7: !isWord("upgrade", name)
        case 10: !isWord("connection", name) || isWord("keep-alive", trimmed(value))
        case 14: !isWord("content-length", name)
        case 17: !isWord("transfer-encoding", name)
        default: true
        }
    }

    /// Whether a browser asks, which would rather have a page.
    private static func mentionsPage(_ value: ArraySlice<UInt8>) -> Bool {
        let (word, length) = ("text/html", 9)
        return value.indices.contains { index in
            value[index].lowercase == UInt8(ascii: "t") && index + length <= value.endIndex
                && isWord(word, value[index..<(index + length)])
        }
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var value = value
        while value.first == 0x20 || value.first == 9 { value.removeFirst() }
        while value.last == 0x20 || value.last == 9 { value.removeLast() }
        return value
    }

    // MARK: Bytes

    /// The end of the run of matching bytes; nil where it goes on to the end of all.
    private static func skip(
        _ bytes: [UInt8], from start: Int, while matches: (UInt8) -> Bool
    ) -> Int? {
        var offset = start
        while offset < bytes.count, matches(bytes[offset]) { offset += 1 }
        return offset < bytes.count ? offset : nil
    }

    private static func lies(_ part: [UInt8], in bytes: [UInt8], at offset: Int) -> Bool {
        guard bytes.count - offset >= part.count else { return false }
        for index in part.indices where bytes[offset + index] != part[index] { return false }
        return true
    }

    /// ASCII words, in any letter case; `word` is in lower case.
    private static func isWord(_ word: String, _ bytes: ArraySlice<UInt8>) -> Bool {
        guard word.utf8.count == bytes.count else { return false }
        var letters = word.utf8.makeIterator()
        for byte in bytes where byte.lowercase != letters.next() { return false }
        return true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_")
    }

    /// What a header's name may consist of (RFC 9110, 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isNameByte(byte) || "!#$%&'*+-.^`|~".utf8.contains(byte)
    }
}
