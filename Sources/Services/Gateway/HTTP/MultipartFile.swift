// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Extracts the first file of a `multipart/form-data` body (RFC 7578) incrementally; other parts
/// are skipped.
struct MultipartFile {
    /// Maximum size of a part's head in bytes.
    static let headByteLimit = 16 << 10

    private enum State { case between, head, content, done }

    private let delimiter: [UInt8]
    /// Received bytes not yet parsed.
    private var pending = Array("\r\n".utf8)
    private var state = State.between
    private var hasFile = false
    /// The file name given by the client; empty until the part is reached.
    private(set) var name = ""

    /// Begins with the value of `Content-Type`; throws `invalidParameter` if that has no boundary.
    init(contentType: String) throws(Failure) {
        delimiter = try MultipartForm.delimiter(contentType)
    }

    /// Whether the file is complete.
    var isWhole: Bool { hasFile && state != .content }

    /// Returns the file's bytes among the next bytes of the body; throws `tooLarge` for an endless
    /// head.
    mutating func feed(_ bytes: some Sequence<UInt8>) throws(Failure) -> [UInt8] {
        pending += bytes
        var file: [UInt8] = []
        while true {
            switch state {
            case .between:
                guard let end = pass(keeping: nil) else { return file }
                pending.removeSubrange(..<end)
                state = .head
            case .content:
                guard let end = pass(keeping: { file += $0 }) else { return file }
                pending.removeSubrange(..<end)
                state = .head
            case .head:
                guard try takeHead() else { return file }
            case .done:
                pending.removeAll()
                return file
            }
        }
    }

    /// Advances past the next delimiter, passing on the bytes before it; nil if that is incomplete.
    private mutating func pass(keeping body: ((ArraySlice<UInt8>) -> Void)?) -> Int? {
        if let found = pending.firstRange(of: delimiter, from: 0) {
            body?(pending[..<found.lowerBound])
            return found.upperBound
        }
        let sure = max(0, pending.count - (delimiter.count - 1))
        body?(pending[..<sure])
        pending.removeSubrange(..<sure)
        return nil
    }

    /// Parses the lines after a delimiter; false while they are incomplete.
    private mutating func takeHead() throws(Failure) -> Bool {
        guard pending.count >= 2 else { return false }
        if pending.starts(with: "--".utf8) {
            state = .done
            return true
        }
        guard let end = pending.firstRange(of: Array("\r\n\r\n".utf8), from: 0) else {
            guard pending.count <= Self.headByteLimit else {
                throw Failure(
                    .tooLarge,
                    "the head of a part has more than \(Self.headByteLimit) bytes")
            }
            return false
        }
        let fileName = MultipartForm.parameter("filename", ofHead: pending[..<end.lowerBound])
        pending.removeSubrange(..<end.upperBound)
        if !hasFile, let fileName {
            name = String(fileName.prefix(200))
            hasFile = true
            state = .content
        } else {
            state = .between
        }
        return true
    }
}
