// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import JobKinds
internal import Site

extension Caller {
    /// The submitter's name in the log: `user:NAME`; `gateway:anonymous` without a token, or
    /// `gateway` without rules.
    ///
    /// Names of users, of the site or the system, cannot collide with these.
    var actor: String {
        if let user { return "user:" + user }
        return isUnruled ? Self.unruledActor : Self.anonymousActor
    }

    /// The user of an actor, `NAME` of `user:NAME`; any other actor as it is.
    static func name(of actor: String) -> String {
        actor.hasPrefix("user:") ? String(actor.dropFirst("user:".count)) : actor
    }

    /// The submitter of a job that belongs to the holder of its id.
    static let anonymousActor = unruledActor + ":" + AccessRules.anonymousName
    private static let unruledActor = "gateway"

    /// Owner of the caller's uploads in the ledger.
    var uploader: UploadLedger.Owner {
        if let user { return .user(user) }
        return isUnruled ? .everybody : .anonymous
    }

    /// Throws as ``check(_:)`` unless the caller may read all inputs of a job; `forbidden` where
    /// one of them is a past that is hidden from the caller.
    func check(
        reading services: Set<JobKindDescription.Service>,
        pasts: Set<JobKindDescription.Service>
    ) throws(Failure) {
        for service in services { try check(.service(service.name, .query)) }
        for past in pasts where !may(.history, on: past.name) {
            throw .noHistory(past.name)
        }
    }

    /// Whether the caller may see a job, read its product, and cancel it.
    ///
    /// This takes the right to read all inputs of the job and either ownership or the operation
    /// `manageJobs`. A job submitted without a token belongs to callers that name its unguessable
    /// id (`holdsID`).
    func maySee(_ job: JobDescription, holdsID: Bool) -> Bool {
        guard !isUnruled else { return true }
        let isOwn =
            user != nil && job.actor == actor || holdsID && job.actor == Self.anonymousActor
        guard isOwn || may(.manageJobs, on: .jobs) else { return false }
        let (services, pasts) = JobKindDescription.services(job.kind, job.parameters)
        return (try? check(reading: services, pasts: pasts)) != nil
    }
}

extension JobKindDescription.Service {
    /// The service name as grants have it.
    fileprivate var name: ServiceName {
        switch self {
        case .map(let name): .map(name)
        case .locator(let name): .locator(name)
        case .network(let name): .network(name)
        case .every: .all
        }
    }
}
