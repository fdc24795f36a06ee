// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials

/// A payload of bytes with a description: how many bytes the description has (four bytes,
/// little-endian), the description as JSON, the bytes.
enum HeadedPayload {
    /// Throws `Failure` where the head holds a number that JSON cannot.
    static func join(_ head: some Encodable, _ bytes: Data) throws(Failure) -> Data {
        let text = try CairnJSON.encode(head)
        let count = UInt32(text.count)
        var result = Data(capacity: 4 + text.count + bytes.count)
        for shift: UInt32 in [0, 8, 16, 24] {
            result.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        result.append(text)
        result.append(bytes)
        return result
    }

    /// Throws `Failure` (`corrupt`) for other bytes; `kind` names what they should be.
    static func split<Head: Decodable>(
        _ payload: Data, _ kind: String
    ) throws(Failure) -> (head: Head, bytes: Data) {
        let prefix = Array(payload.prefix(4))
        let count = prefix.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard prefix.count == 4, count <= payload.count - 4 else {
            throw Failure(
                .corrupt,
                "these \(payload.count) bytes are not \(kind): expected the length of its head")
        }
        let rest = payload.dropFirst(4)
        do throws(Failure) {
            let head = try CairnJSON.decode(Head.self, from: Data(rest.prefix(count)))
            return (head, Data(rest.dropFirst(count)))
        } catch {
            throw Failure(.corrupt, "the head of \(kind): \(error.message)")
        }
    }
}
