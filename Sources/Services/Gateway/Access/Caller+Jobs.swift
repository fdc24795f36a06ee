// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import JobKinds
internal import Site

extension Caller {
    /// The submitter's name in the log: `user:NAME`; `gateway:anonymous` without a token where
    /// there are rules, `gateway` where there are none.
    ///
    /// No user of the site or of the system has a name that makes another of these.
    var actor: String {
        if let user { return "user:" + user }
        return isUnruled ? Self.unruledActor : Self.anonymousActor
    }

    /// The submitter of a job that belongs to the holder of its id.
    static let anonymousActor = unruledActor + ":" + AccessRules.anonymousName
    private static let unruledActor = "gateway"

    /// In whose name they upload.
    var uploader: UploadLedger.Owner {
        if let user { return .user(user) }
        return isUnruled ? .everybody : .anonymous
    }

    /// Throws as ``check(_:)`` unless they may read all that a job reads; `forbidden` where that is
    /// a past which they may not see.
    func check(
        reading services: Set<JobKindDescription.Service>,
        pasts: Set<JobKindDescription.Service>
    ) throws(Failure) {
        for service in services { try check(.service(service.name, .query)) }
        for past in pasts where !may(.history, on: past.name) {
            throw .noHistory(past.name)
        }
    }

    /// Whether they may know of a job, read it and its product, and cancel it.
    ///
    /// Besides reading all that the job reads, that takes that it is theirs, or the operation
    /// `manageJobs`. A job without a user is theirs who name it by its id (`holdsID`), which is
    /// unguessable, if it was submitted without a token.
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
    /// As grants name it.
    fileprivate var name: ServiceName {
        switch self {
        case .map(let name): .map(name)
        case .locator(let name): .locator(name)
        case .every: .all
        }
    }
}
