// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A user's limits on shared resources; nil for the default of the next rule.
public struct Quota: Hashable, Sendable, Codable {
    /// Bytes of stored uploads and of the products of the user's jobs.
    public var bytes: Int64?
    /// Number of jobs that have not ended.
    public var jobs: Int?
    /// Number of uploads under way at a gateway.
    public var uploads: Int?

    /// Makes one.
    public init(bytes: Int64? = nil, jobs: Int? = nil, uploads: Int? = nil) {
        self.bytes = bytes
        self.jobs = jobs
        self.uploads = uploads
    }

    /// The effective limits of a list of quotas, of which the first with a value counts.
    public struct Limits: Hashable, Sendable, Codable {
        /// Bytes of stored uploads and of the products of the user's jobs.
        public var bytes: Int64
        /// Number of jobs that have not ended.
        public var jobs: Int
        /// Number of uploads under way at a gateway.
        public var uploads: Int

        /// The default limits: 10 GiB, 20 jobs, 4 uploads.
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

    /// Whether it sets no limit.
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
