// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The headers of a GET over HTTP/1.1 without a body, read straight from the bytes, where none of
/// them needs the HTTP library.
struct FastHeaders: Equatable {
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
    /// Those of `If-None-Match` and `Accept-Encoding`, with commas between several.
    private(set) var noneMatch = ""
    private(set) var acceptEncoding = ""
    /// Whether a part of the answer is asked for.
    private(set) var hasRange = false

    private static let headerLimit = 100
    private static let version = Array(" HTTP/1.1\r\n".utf8)

    /// Nil unless the bytes are, from the end of the request's target on, the rest of exactly one
    /// request whose headers change nothing but what is kept here.
    init?(_ bytes: [UInt8], after target: Int) {
        guard Self.lies(Self.version, in: bytes, at: target),
            read(bytes, from: target + Self.version.count)
        else { return nil }
    }

    /// Whether they are plain.
    private mutating func read(_ bytes: [UInt8], from start: Int) -> Bool {
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
        case 5 where Self.isWord("range", name): hasRange = true
        case 7 where Self.isWord("referer", name): referer = Self.text(value)
        case 8 where Self.isWord("if-range", name): hasRange = true
        case 13 where Self.isWord("authorization", name):
            if authorization == nil { authorization = Self.text(value) }
        case 13 where Self.isWord("if-none-match", name):
            noneMatch = (noneMatch.isEmpty ? "" : noneMatch + ",") + Self.text(value)
        case 15 where Self.isWord("accept-encoding", name):
            acceptEncoding =
                (acceptEncoding.isEmpty ? "" : acceptEncoding + ",") + Self.text(value)
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
    static func skip(
        _ bytes: [UInt8], from start: Int, while matches: (UInt8) -> Bool
    ) -> Int? {
        var offset = start
        while offset < bytes.count, matches(bytes[offset]) { offset += 1 }
        return offset < bytes.count ? offset : nil
    }

    static func lies(_ part: [UInt8], in bytes: [UInt8], at offset: Int) -> Bool {
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

    /// What a map's name consists of.
    static func isNameByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_")
    }

    static func isTargetByte(_ byte: UInt8) -> Bool { 0x21...0x7e ~= byte }

    /// What a header's name may consist of (RFC 9110, 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isNameByte(byte) || "!#$%&'*+-.^`|~".utf8.contains(byte)
    }
}
