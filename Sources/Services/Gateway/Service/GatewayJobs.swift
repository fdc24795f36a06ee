// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import JobKinds
package import Site

/// The jobs of a site behind the geoprocessing service; throws as ``GatewayBackend`` does.
package protocol GatewayJobs: Sendable {
    /// Where inputs and products lie.
    var blobs: BlobStore { get }
    /// The users that uploaded these.
    var uploads: UploadLedger { get }
    /// Records a job; the same id is submitted once.
    func submit(_ submission: JobSubmission) async throws(Failure) -> JobDescription
    /// Every job that is known, in any order.
    func jobs() async throws(Failure) -> [JobDescription]
    /// What the jobs of an actor take up; it knows every submission that has been answered here.
    func usage(of actor: String) async throws(Failure) -> JobUsage
    /// One job as it is now; throws `notFound`.
    func job(_ id: JobID) async throws(Failure) -> JobDescription
    /// Ends a job for good, by the wish of that ``Caller/actor``; throws `conflict` for one that
    /// has ended.
    func cancel(_ id: JobID, actor: String) async throws(Failure) -> JobDescription
    /// Follows a job from a sequence number on, 0 for all that happened to it, to its end.
    func follow(
        _ id: JobID, as task: JobKindDescription, after sequence: Int64
    ) -> any GatewayChanges
}
