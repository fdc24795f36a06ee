// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
package import CairnModel
internal import Daemon
internal import FoundationEssentials
internal import Platform
package import Site

/// A chunk executed alone in a process of its own, to analyse a chunk that kills its workers.
///
/// The supervisor is not involved. Output blobs are written beside the work order, to `blobs`.
package struct ScratchChunk: Sendable {
    private let path: String
    private let assignment: ChunkAssignment

    /// Reads a work order; throws `Failure` (`notFound`, `invalidParameter`).
    package init(path: String) throws(Failure) {
        self.path = path
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(.notFound, "the work order '\(path)' cannot be read")
        }
        assignment = try CairnJSON.decode(ChunkAssignment.self, from: bytes)
    }

    private var directory: String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The store of input and output blobs.
    package var blobs: BlobStore { BlobStore(directory: directory + "/blobs") }

    /// Executes the chunk on a thread of its own and writes the `ChunkReport` to `report.json`
    /// beside the order.
    func run(_ handlers: [String: TaskHandler]) async throws {
        let (name, payload) = (assignment.operation, try CairnJSON.encode(assignment))
        let job = assignment.held.job
        guard let operation = handlers[name] else {
            throw Failure(.notFound, "no worker of this pool knows the operation '\(name)'")
        }
        let report: ChunkReport = await withCheckedContinuation { continuation in
            do throws(PlatformError) {
                _ = try PinnedThread(name: "chunk") {
                    continuation.resume(returning: Self.report(job, name, operation, payload))
                }
            } catch {
                continuation.resume(returning: .failed(Failure(error)))
            }
        }
        try CairnJSON.encode(report).write(to: URL(filePath: directory + "/report.json"))
    }

    private static func report(
        _ job: JobID, _ name: String, _ operation: TaskHandler, _ payload: Data
    ) -> ChunkReport {
        Failpoints().pass("worker.chunkTaken", of: job.rawValue)
        let context = OperationContext(
            metadata: RequestMetadata(operation: name), contentType: MessageHeader.json,
            deadline: nil, control: WorkControl())
        do {
            return .completed(
                try CairnJSON.decode(ChunkOutcome.self, from: try operation(context, payload)))
        } catch let failure as Failure {
            return .failed(failure)
        } catch {
            return .failed(Failure(.internal, "\(error)"))
        }
    }
}
