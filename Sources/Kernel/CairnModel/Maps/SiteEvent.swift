// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// An event about the site as a whole, of a stream of category `site`.
public enum SiteEvent: Hashable, Sendable {
    case blobsSwept(SiteBlobsSwept)
    case dataSwept(SiteDataSwept)
    case accessChanged(SiteAccessChanged)
    case auditRedacted(SiteAuditRedacted)
    case erased(SiteErased)

    /// Reads a stored event; throws `Failure`: `newerVersion` for a type that this build does not
    /// know, `corrupt` for an invalid one.
    public init(_ event: NewEvent) throws(Failure) {
        switch event.type {
        case SiteBlobsSwept.eventType: self = .blobsSwept(try .decode(event))
        case SiteDataSwept.eventType: self = .dataSwept(try .decode(event))
        case SiteAccessChanged.eventType: self = .accessChanged(try .decode(event))
        case SiteAuditRedacted.eventType: self = .auditRedacted(try .decode(event))
        case SiteErased.eventType: self = .erased(try .decode(event))
        default:
            throw Failure(.newerVersion, "no reader for events of type '\(event.type)'")
        }
    }

    /// The payload.
    public var payload: any EventPayload {
        switch self {
        case .blobsSwept(let payload): payload
        case .dataSwept(let payload): payload
        case .accessChanged(let payload): payload
        case .auditRedacted(let payload): payload
        case .erased(let payload): payload
        }
    }
}

/// Blobs that no job needs any more are about to be removed, as recorded in the stream
/// `site-blobs`.
public struct SiteBlobsSwept: EventPayload {
    /// The stable type name.
    public static let eventType = "site.blobs.swept"
    /// Jobs that ended before this moment keep only what ``keepsProducts`` states.
    public var before: Timestamp
    /// Whether inputs and products stay.
    public var keepsProducts: Bool
    /// Number of blobs.
    public var blobCount: Int
    /// Their bytes.
    public var byteCount: Int64

    /// Makes the event.
    public init(before: Timestamp, keepsProducts: Bool, blobCount: Int, byteCount: Int64) {
        self.before = before
        self.keepsProducts = keepsProducts
        self.blobCount = blobCount
        self.byteCount = byteCount
    }
}

/// Datasets, rasters and locator files that nothing refers to are about to be removed, as recorded
/// in the stream `site-blobs`.
public struct SiteDataSwept: EventPayload {
    /// The stable type name.
    public static let eventType = "site.data.swept"
    /// Their names.
    public var data: [ContentID]
    /// Their bytes.
    public var byteCount: Int64

    /// Makes the event.
    public init(data: [ContentID], byteCount: Int64) {
        self.data = data
        self.byteCount = byteCount
    }
}

/// The access rules of the site's gateways have been changed by a command, as recorded in the
/// stream `site-access`; passwords and their hashes are never in it.
public struct SiteAccessChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "site.access.changed"
    /// What was changed.
    public var change: Change
    /// The user's name or `anonymous`; nil for the quota of users without one of their own.
    public var subject: String?
    /// What the subject may do now, as `query`, `edit:Roads`; nil where it is removed, or has none
    /// of its own.
    public var permissions: [String]?
    /// The subject's own limits now; nil for none.
    public var quota: AccessQuota?
    /// True when the change put rules in force: before it every client might do everything.
    public var closesSite: Bool?

    /// A kind of change.
    public enum Change: String, Hashable, Sendable, Codable {
        /// A user was added.
        case added
        /// A user was removed.
        case removed
        /// A user has another password.
        case password
        /// The subject has other permissions.
        case permissions
        /// The subject has another quota.
        case quota
    }

    /// Limits on shared resources; nil for the default.
    public struct AccessQuota: Hashable, Sendable, Codable {
        /// Bytes of stored uploads and of products.
        public var bytes: Int64?
        /// Number of jobs that have not ended.
        public var jobs: Int?
        /// Number of concurrent uploads at a gateway.
        public var uploads: Int?

        /// Makes one.
        public init(bytes: Int64?, jobs: Int?, uploads: Int?) {
            self.bytes = bytes
            self.jobs = jobs
            self.uploads = uploads
        }
    }

    /// Makes the event.
    public init(
        _ change: Change, of subject: String?, permissions: [String]? = nil,
        quota: AccessQuota? = nil, closesSite: Bool? = nil
    ) {
        self.change = change
        self.subject = subject
        self.permissions = permissions
        self.quota = quota
        self.closesSite = closesSite
    }
}

/// A person's traces have been removed from the audit, as recorded in the stream `site-access`; the
/// person is not named.
public struct SiteAuditRedacted: EventPayload {
    /// The stable type name.
    public static let eventType = "site.audit.redacted"
    /// Number of entries without user, address and question now.
    public var entryCount: Int

    /// Makes the event.
    public init(entryCount: Int) { self.entryCount = entryCount }
}

/// Personal data have been taken out of the past of the site, as recorded in the stream
/// `site-erasures`: a list for backups that were made before.
public struct SiteErased: EventPayload {
    /// The stable type name.
    public static let eventType = "site.erased"
    /// `MAP/LAYER/ID` of a feature; `user` for a user, whose name is not kept.
    public var subject: String
    /// Number of events whose bytes were replaced.
    public var eventCount: Int
    /// The commits that hold them.
    public var commits: [Commit]
    /// The datasets that no longer have the feature, under their old names.
    public var datasets: [ContentID]
    /// Number of files of recorded requests that were removed.
    public var recordingCount: Int
    /// Number of entries of the audit that were redacted; nil for none.
    public var auditCount: Int?

    /// A commit with replaced events.
    public struct Commit: Hashable, Sendable, Codable {
        /// The global position of its last event.
        public var last: Int64
        /// The SHA-256 of its records as they are now, 64 hexadecimal digits.
        public var hash: String

        /// States it.
        public init(last: Int64, hash: String) {
            self.last = last
            self.hash = hash
        }
    }

    /// An erasure of nothing yet.
    public init(subject: String) {
        self.subject = subject
        eventCount = 0
        commits = []
        datasets = []
        recordingCount = 0
    }
}
