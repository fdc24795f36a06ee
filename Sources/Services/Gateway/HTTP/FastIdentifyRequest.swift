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
    let headers: FastHeaders

    /// The most bytes read here.
    static let byteLimit = 16_384
    private static let start = Array("GET /arcgis/rest/services/".utf8)
    private static let resource = Array("/MapServer/identify?".utf8)

    /// Nil unless the bytes are exactly one such request.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.byteLimit, FastHeaders.lies(Self.start, in: bytes, at: 0) else {
            return nil
        }
        let nameStart = Self.start.count
        guard
            var nameEnd = FastHeaders.skip(bytes, from: nameStart, while: FastHeaders.isNameByte),
            nameEnd > nameStart
        else { return nil }
        if !FastHeaders.lies(Self.resource, in: bytes, at: nameEnd) {
            guard bytes[nameEnd] == UInt8(ascii: "/"),
                let end = FastHeaders.skip(
                    bytes, from: nameEnd + 1, while: FastHeaders.isNameByte),
                end > nameEnd + 1, FastHeaders.lies(Self.resource, in: bytes, at: end)
            else { return nil }
            nameEnd = end
        }
        let queryStart = nameEnd + Self.resource.count
        guard
            let queryEnd = FastHeaders.skip(
                bytes, from: queryStart, while: FastHeaders.isTargetByte),
            let headers = FastHeaders(bytes, after: queryEnd)
        else { return nil }
        map = String(decoding: bytes[nameStart..<nameEnd], as: UTF8.self)
        query = bytes[queryStart..<queryEnd]
        self.headers = headers
    }

    /// Whether these bytes are exactly one request without a body, so that the next byte begins
    /// another.
    static func isWholeRequest(_ bytes: [UInt8]) -> Bool {
        guard
            FastHeaders.lies(Array("GET ".utf8), in: bytes, at: 0)
                || FastHeaders.lies(Array("HEAD ".utf8), in: bytes, at: 0)
        else { return false }
        let end = Array("\r\n\r\n".utf8)
        var place = 0
        while place + 4 <= bytes.count {
            if bytes[place] == end[0], FastHeaders.lies(end, in: bytes, at: place) {
                return place + 4 == bytes.count
            }
            place += 1
        }
        return false
    }
}
