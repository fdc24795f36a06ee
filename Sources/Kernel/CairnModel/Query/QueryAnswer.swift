// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A part of the answer to a query: bytes of the body as clients get it.
public struct QueryAnswer: Hashable, Sendable {
    /// JSON, UTF-8; the bytes of all parts one after the other are the body.
    public var body: [UInt8]
    /// Sequence number of the map's last event in the answer.
    public var sequence: Int64
    /// Whether the map may have changed unnoticed.
    public var isStale: Bool
    /// Start of the next part; nil in the last.
    public var next: QueryPart?

    /// States it.
    public init(body: [UInt8], sequence: Int64, isStale: Bool, next: QueryPart?) {
        self.body = body
        self.sequence = sequence
        self.isStale = isStale
        self.next = next
    }
}

extension QueryAnswer {
    /// The version of the layout that is written, and the only one read.
    private static let version: UInt8 = 2
    private static let headByteCount = 56

    /// The layout of `Docs/bus-protocol.md`: 56 bytes, then the body.
    public var wireForm: Data {
        var bytes = Data(capacity: Self.headByteCount + body.count)
        bytes.append(contentsOf: [
            Self.version, isStale ? 1 : 0, next == nil ? 0 : 1, next?.place == nil ? 0 : 1,
            0, 0, 0, 0,
        ])
        let numbers = [
            sequence, Int64(next?.row ?? 0), Int64(next?.byteCount ?? 0),
            Int64(next?.totalByteCount ?? 0), Int64(next?.place?.layer ?? 0),
            next?.place?.objectID ?? 0,
        ]
        for number in numbers {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        bytes.append(contentsOf: body)
        return bytes
    }

    /// Reads that layout; throws `corrupt`, or `newerVersion` for another build's.
    public init(wireForm bytes: Data) throws(Failure) {
        guard bytes.count >= Self.headByteCount else {
            throw Failure(.corrupt, "these \(bytes.count) bytes are not an answer to a query")
        }
        let head = Array(bytes.prefix(Self.headByteCount))
        guard head[0] == Self.version else {
            throw Failure(
                .newerVersion,
                "the answer to a query has layout version \(head[0]); this build reads version "
                    + "\(Self.version) only")
        }
        func number(_ index: Int) -> Int64 {
            (0..<8).reduce(0) { $0 | Int64(head[8 + index * 8 + $1]) << Int64($1 * 8) }
        }
        body = Array(bytes.dropFirst(Self.headByteCount))
        sequence = number(0)
        isStale = head[1] != 0
        next =
            head[2] == 0
            ? nil
            : QueryPart(
                row: Int(number(1)), byteCount: Int(number(2)), totalByteCount: Int(number(3)),
                place: head[3] == 0
                    ? nil : QueryPart.Place(layer: Int(number(4)), objectID: number(5)))
    }
}
