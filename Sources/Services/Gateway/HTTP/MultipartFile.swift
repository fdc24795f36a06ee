// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Takes the first file out of a `multipart/form-data` body (RFC 7578), piece by piece; the other
/// parts are passed over.
struct MultipartFile {
    /// The most bytes of a part's own head.
    static let headByteLimit = 16 << 10

    private enum State { case between, head, content, done }

    private let delimiter: [UInt8]
    /// What has come and is not decided about.
    private var pending = Array("\r\n".utf8)
    private var state = State.between
    private var hasFile = false
    /// What the client calls the file; empty until it is met.
    private(set) var name = ""

    /// Begins with the value of `Content-Type`; throws `invalidParameter` where that names no
    /// boundary.
    init(contentType: String) throws(Failure) {
        delimiter = try MultipartForm.delimiter(contentType)
    }

    /// Whether the file has come, and its end.
    var isWhole: Bool { hasFile && state != .content }

    /// The bytes of the file among the next bytes of the body; throws `tooLarge` for a head that
    /// has no end.
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

    /// Goes on to the end of the next delimiter, handing out what lies before it; nil when that has
    /// not come.
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

    /// Reads what follows a delimiter; false when it has not come.
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
