// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A whole request over HTTP/1.1 that may be one for a tile, read straight from the bytes; see
/// ``FastIdentifyRequest``.
struct FastTileRequest: Equatable {
    /// Still percent-encoded.
    let path: ArraySlice<UInt8>
    /// What follows `?`, likewise.
    let query: ArraySlice<UInt8>
    let headers: FastHeaders

    private static let method = Array("GET /".utf8)
    private static let word = Array("/tile".utf8)

    /// Nil unless the bytes are exactly one such request, for the whole of an answer.
    init?(_ bytes: [UInt8]) {
        let start = Self.method.count - 1
        guard bytes.count <= FastIdentifyRequest.byteLimit,
            FastHeaders.lies(Self.method, in: bytes, at: 0),
            let end = FastHeaders.skip(bytes, from: start, while: FastHeaders.isTargetByte)
        else { return nil }
        let pathEnd = bytes[start..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        // Nearly every other request ends here.
        guard
            (start..<pathEnd).contains(where: {
                bytes[$0] == Self.word[0] && FastHeaders.lies(Self.word, in: bytes, at: $0)
            }),
            let headers = FastHeaders(bytes, after: end), !headers.hasRange
        else { return nil }
        path = bytes[start..<pathEnd]
        query = pathEnd < end ? bytes[(pathEnd + 1)..<end] : []
        self.headers = headers
    }
}
