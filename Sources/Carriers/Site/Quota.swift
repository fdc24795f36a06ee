// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How much a user may have of what others then lack; what is nil is as the next rule says.
public struct Quota: Hashable, Sendable, Codable {
    /// Of bytes: uploads that are kept, and products of the user's jobs.
    public var bytes: Int64?
    /// Of jobs that have not ended.
    public var jobs: Int?
    /// Of uploads under way at a gateway.
    public var uploads: Int?

    /// Makes one.
    public init(bytes: Int64? = nil, jobs: Int? = nil, uploads: Int? = nil) {
        self.bytes = bytes
        self.jobs = jobs
        self.uploads = uploads
    }

    /// The limits that follow from some quotas, the first of which that says something counts.
    public struct Limits: Hashable, Sendable, Codable {
        /// Of bytes: uploads that are kept, and products of the user's jobs.
        public var bytes: Int64
        /// Of jobs that have not ended.
        public var jobs: Int
        /// Of uploads under way at a gateway.
        public var uploads: Int

        /// Where no quota says anything: 10 GiB, 20 jobs, 4 uploads.
        public static let standard = Limits(bytes: 10 << 30, jobs: 20, uploads: 4)

        init(bytes: Int64, jobs: Int, uploads: Int) {
            self.bytes = bytes
            self.jobs = jobs
            self.uploads = uploads
        }

        init(_ own: Quota?, else site: Quota?) {
            bytes = own?.bytes ?? site?.bytes ?? Self.standard.bytes
            jobs = own?.jobs ?? site?.jobs ?? Self.standard.jobs
            uploads = own?.uploads ?? site?.uploads ?? Self.standard.uploads
        }
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { self == Quota() }

    /// Whether every number in it is one that can be meant.
    var isSound: Bool { (bytes ?? 0) >= 0 && (jobs ?? 0) >= 0 && (uploads ?? 0) >= 0 }
}

extension AccessRules {
    /// The limits of a user; nil is everybody without a token.
    public func limits(of user: String?) -> Quota.Limits {
        Quota.Limits(user.map { self.user($0)?.quota } ?? anonymousQuota, else: quota)
    }
}
