// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import JobKinds
package import Site

/// The jobs of a site behind the geoprocessing service; throws as ``GatewayBackend`` does.
package protocol GatewayJobs: Sendable {
    /// Storage of inputs and products.
    var blobs: BlobStore { get }
    /// Owners of the uploads.
    var uploads: UploadLedger { get }
    /// Records a job; a repeated id has no further effect.
    func submit(_ submission: JobSubmission) async throws(Failure) -> JobDescription
    /// All jobs, in any order.
    func jobs() async throws(Failure) -> [JobDescription]
    /// The jobs' usage of an actor, including every submission that has been answered here.
    func usage(of actor: String) async throws(Failure) -> JobUsage
    /// The current state of a job; throws `notFound`.
    func job(_ id: JobID) async throws(Failure) -> JobDescription
    /// Cancels a job on behalf of an actor (``Caller/actor``); throws `conflict` for one that has
    /// ended.
    func cancel(_ id: JobID, actor: String) async throws(Failure) -> JobDescription
    /// Follows a job from a sequence number on, 0 for its beginning, to its end.
    func follow(_ id: JobID, as form: JobForm, after sequence: Int64) -> any GatewayChanges
}

/// The form of a job's status.
package enum JobForm: Sendable {
    /// That of a task of the geoprocessing service.
    case task(JobKindDescription)
    /// That of an export of tiles.
    case tiles
}
