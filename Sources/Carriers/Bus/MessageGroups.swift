// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import Platform
internal import ZeroMQ

/// Messages to one peer that leave together as one frame, each with its header, metadata and
/// payload behind the one before it.
///
/// A frame costs libzmq a piece of memory, a place in its queue and a header on the wire, whatever
/// is in it, and a message alone is three; so even a group of one is cheaper.
struct OutgoingGroup {
    /// The most messages of one group.
    static let messageBound = 256
    /// Size in bytes at which a group takes no further message; larger messages are sent alone.
    static let byteBound = 64 << 10
    /// Nor does one that has been open so long; nanoseconds.
    static let nanoseconds: Int64 = 100_000

    private var bytes: ByteWriter
    private var count = 0
    /// When the first message was added; monotonic nanoseconds.
    private var since: Int64 = 0

    var isEmpty: Bool { count == 0 }

    /// An empty one, with room for some bytes.
    init(capacity: Int = 0) { bytes = ByteWriter(capacity: capacity) }

    /// One of a single message.
    init(_ message: Message, from sender: UUID) {
        self.init(
            capacity: HeaderCoding.byteCount + message.metadata.count + message.payload.count)
        _ = add(message, from: sender, now: 0)
    }

    static func takes(_ message: Message) -> Bool {
        message.metadata.count + message.payload.count < byteBound
    }

    /// Adds a message; true when the group must leave before another comes.
    mutating func add(_ message: Message, from sender: UUID, now: Int64) -> Bool {
        if isEmpty { since = now }
        HeaderCoding.encode(message, from: sender).withBytes { bytes.append($0) }
        bytes.append(message.metadata.bytes)
        bytes.append(message.payload.bytes)
        count += 1
        return count >= Self.messageBound || bytes.byteCount >= Self.byteBound
            || now - since >= Self.nanoseconds
    }

    mutating func removeAll() {
        bytes.removeAll()
        count = 0
    }

    func withBytes<Value, Fault>(
        _ body: (RawSpan) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        try bytes.withBytes(body)
    }
}

/// A group that has come, and how far it has been read.
struct IncomingGroup: ~Copyable {
    private var frame = Frame()
    private var offset = 0

    /// Takes a frame's place; the frame is empty then.
    mutating func begin(with frame: inout Frame) {
        self.frame = Frame()
        swap(&self.frame, &frame)
        offset = 0
    }

    /// Over which connection it came.
    var connectionDescriptor: Int32? { mutating get { frame.connectionDescriptor } }

    /// Whether the group is empty.
    var isEmpty: Bool { mutating get { frame.byteCount == 0 } }

    /// Releases the bytes already read; whether more messages follow.
    mutating func hasMore() -> Bool {
        if offset < frame.byteCount { return true }
        removeAll()
        return false
    }

    mutating func removeAll() {
        frame = Frame()
        offset = 0
    }

    /// The next message; after a fault the rest is discarded, because the length may be the fault.
    mutating func next() throws(FrameFault) -> Message {
        let start = offset
        offset = .max
        let (message, end) = try frame.withBytes { bytes throws(FrameFault) in
            let rest = bytes.extracting(min(start, bytes.byteCount)..<bytes.byteCount)
            let (message, byteCount) = try HeaderCoding.decodeFirst(of: rest)
            return (message, start + byteCount)
        }
        offset = end
        return message
    }
}
