// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Site

/// Input and callbacks of a chunk's operation.
public struct ChunkContext: Sendable {
    /// The chunk's assignment.
    public let assignment: ChunkAssignment
    /// The store of blobs.
    public let blobs: BlobStore
    /// Reports the chunk's progress, 0…1; cheap, with no limit on the rate.
    public let report: @Sendable (Double) -> Void
    /// Whether the chunk has been cancelled; to be checked at least twice a second.
    public let isCancelled: @Sendable () -> Bool

    /// Creates a context.
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

    /// Decodes the chunk's input; throws `Failure` (`invalidParameter`) for another form.
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
        if isCancelled() { throw Failure(.cancelled, "the attempt was cancelled") }
    }
}

/// The operation of a chunk: bytes in blobs in, bytes in blobs out, deterministic.
///
/// Called on a thread of its own; it may block. Throws `Failure`, or anything else as a defect.
public typealias ChunkOperation = @Sendable (ChunkContext) throws -> ChunkOutcome
