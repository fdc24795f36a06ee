// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Extracts the first file of a `multipart/form-data` body (RFC 7578) incrementally, and the first
/// short fields; other parts are skipped.
struct MultipartFile {
    /// Maximum size of a part's head in bytes.
    static let headByteLimit = 16 << 10
    /// Maximum number of fields, and size of the value of each in bytes.
    private static let fieldLimit = (count: 16, byteCount: 1_024)

    private enum State { case between, head, content, done }

    private let delimiter: [UInt8]
    /// Received bytes not yet parsed.
    private var pending = Array("\r\n".utf8)
    private var state = State.between
    private var hasFile = false
    /// The file name given by the client; empty until the part is reached.
    private(set) var name = ""
    /// The values of fields by name, as far as they are complete.
    private(set) var fields: [String: String] = [:]
    /// The field that is being read.
    private var field: (name: String, value: [UInt8])?

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
                var text: [UInt8] = []
                let end = field == nil ? pass(keeping: nil) : pass(keeping: { text += $0 })
                let room = Self.fieldLimit.byteCount + 1 - (field?.value.count ?? 0)
                field?.value += text.prefix(max(room, 0))
                guard let end else { return file }
                endField()
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

    private mutating func endField() {
        if let field, fields.count < Self.fieldLimit.count,
            field.value.count <= Self.fieldLimit.byteCount
        {
            fields[field.name] = Parameters.text(field.value)
        }
        field = nil
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
        let head = pending[..<end.lowerBound]
        let fileName = MultipartForm.parameter("filename", ofHead: head)
        let fieldName = MultipartForm.parameter("name", ofHead: head)
        pending.removeSubrange(..<end.upperBound)
        if !hasFile, let fileName {
            name = String(fileName.prefix(200))
            hasFile = true
            state = .content
        } else {
            if fileName == nil, let fieldName { field = (fieldName, []) }
            state = .between
        }
        return true
    }
}
