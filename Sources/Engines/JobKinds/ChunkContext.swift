// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Site

/// What a chunk's operation is given, and by which it talks back.
public struct ChunkContext: Sendable {
    /// The work order.
    public let assignment: ChunkAssignment
    /// Where blobs are read and put.
    public let blobs: BlobStore
    /// Says how much of the chunk is done, 0…1; cheap, call it as often as there is news.
    public let report: @Sendable (Double) -> Void
    /// Whether the chunk should stop; ask at least twice a second.
    public let isCancelled: @Sendable () -> Bool

    /// Puts a context together.
    public init(
        assignment: ChunkAssignment, blobs: BlobStore,
        report: @escaping @Sendable (Double) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.assignment = assignment
        self.blobs = blobs
        self.report = report
        self.isCancelled = isCancelled
    }

    /// The chunk's input; throws `Failure` (`invalidParameter`) where it has another form.
    func input<Input: Decodable>(_ type: Input.Type) throws(Failure) -> Input {
        try CairnJSON.decode(type, from: assignment.chunk.input)
    }

    /// Asks again while the log has not been read so far: the worker may have just been started.
    func patiently<Value>(_ ask: () throws(Failure) -> Value) throws -> Value {
        for _ in 0..<10 {
            do throws(Failure) {
                return try ask()
            } catch {
                guard error.isRetriable else { throw error }
                try checkCancelled()
                report(0)
            }
        }
        return try ask()
    }

    /// Throws `Failure` (`cancelled`) when the chunk should stop.
    public func checkCancelled() throws(Failure) {
        if isCancelled() { throw Failure(.cancelled, "the attempt was told to stop") }
    }
}

/// What a kind of chunk does: bytes in blobs in, bytes in blobs out, the same for the same input.
///
/// Called on a thread of its own; it may block. Throws `Failure`, or anything else as a defect.
public typealias ChunkOperation = @Sendable (ChunkContext) throws -> ChunkOutcome
