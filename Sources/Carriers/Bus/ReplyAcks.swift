// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DequeModule
internal import FoundationEssentials
internal import Platform

/// Answers that came straight from workers, of which the service has not been told; lives on the
/// bus thread.
///
/// The next task tells of one in its correlation. Those that no task tells of within a millisecond
/// go in a message of kind `taken`, whose payload is their questions' ids.
struct ReplyAcks {
    /// The most of one message.
    static let capacity = 1_024
    /// How long one waits for a task that tells of it.
    static let nanoseconds: Int64 = 1_000_000

    private var ids: Deque<UUID> = []

    var isEmpty: Bool { ids.isEmpty }

    var isFull: Bool { ids.count >= Self.capacity }

    mutating func append(_ id: UUID) { ids.append(id) }

    /// The oldest; zero when there is none.
    mutating func removeFirst() -> UUID { ids.popFirst() ?? .zero }

    mutating func removeAll() { ids.removeAll(keepingCapacity: true) }

    /// The payload that tells of all of them.
    var payload: Data {
        var data = Data(capacity: ids.count * 16)
        var bytes = InlineArray<16, UInt8>(repeating: 0)
        for id in ids {
            bytes.store(id.uuid, at: 0)
            for index in bytes.indices { data.append(bytes[index]) }
        }
        return data
    }

    /// Reads such a payload; nil when it is none.
    static func read(_ payload: Data) -> [UUID]? {
        guard payload.count % 16 == 0, payload.count / 16 <= capacity else { return nil }
        let bytes = payload.bytes
        return stride(from: 0, to: payload.count, by: 16).map { UUID(uuid: bytes.uuid(at: $0)) }
    }
}
