// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DequeModule
internal import FoundationEssentials
internal import Platform

/// Unacknowledged answers that came straight from workers, confined to the bus thread.
///
/// The next task acknowledges one in its correlation. Those that no task acknowledges within a
/// millisecond go in a message of kind `taken`, whose payload is the ids of their requests.
struct ReplyAcks {
    /// The most of one message.
    static let capacity = 1_024
    /// Longest wait of an acknowledgement for a task to carry it.
    static let nanoseconds: Int64 = 1_000_000

    private var ids: Deque<UUID> = []

    var isEmpty: Bool { ids.isEmpty }

    var isFull: Bool { ids.count >= Self.capacity }

    mutating func append(_ id: UUID) { ids.append(id) }

    /// The oldest id; zero for an empty queue.
    mutating func removeFirst() -> UUID { ids.popFirst() ?? .zero }

    mutating func removeAll() { ids.removeAll(keepingCapacity: true) }

    /// The payload that acknowledges all of them.
    var payload: Data {
        var data = Data(capacity: ids.count * 16)
        var bytes = InlineArray<16, UInt8>(repeating: 0)
        for id in ids {
            bytes.store(id.uuid, at: 0)
            for index in bytes.indices { data.append(bytes[index]) }
        }
        return data
    }

    /// Decodes such a payload; nil for malformed bytes.
    static func read(_ payload: Data) -> [UUID]? {
        guard payload.count % 16 == 0, payload.count / 16 <= capacity else { return nil }
        let bytes = payload.bytes
        return stride(from: 0, to: payload.count, by: 16).map { UUID(uuid: bytes.uuid(at: $0)) }
    }
}
