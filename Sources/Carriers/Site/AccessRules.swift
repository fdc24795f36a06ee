// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The access rules of a site's gateways: the contents of `access.json`.
public struct AccessRules: Hashable, Sendable, Codable {
    /// Format version of the file; this build knows 1.
    public var formatVersion = 1
    /// Users with a password, by name.
    public var users: [User] = []
    /// Grants that need no token; they apply to users too.
    public var anonymous: [Grant] = []
    /// The quota of users without one of their own.
    public var quota: Quota?
    /// The quota of all callers without a token together.
    public var anonymousQuota: Quota?

    /// No grants.
    public init() {}

    /// A user with a password.
    public struct User: Hashable, Sendable, Codable {
        /// 1 to 64 letters, digits, `-`, `_`, `.` or `@`.
        public var name: String
        /// The form written by `PasswordHash`.
        public var passwordHash: String
        /// The user's grants besides the anonymous ones.
        public var grants: [Grant]
        /// The user's quota.
        public var quota: Quota?

        /// Makes one.
        public init(name: String, passwordHash: String, grants: [Grant]) {
            self.name = name
            self.passwordHash = passwordHash
            self.grants = grants
        }
    }

    /// An operation on one service, or on all.
    public struct Grant: Hashable, Sendable, Codable {
        /// The operation.
        public var operation: Operation
        /// The name of a map, of a locator, or `Jobs`; `*` matches every service.
        public var service: String

        /// Makes one.
        public init(_ operation: Operation, on service: String = everyService) {
            self.operation = operation
            self.service = service
        }

        /// Matches every service.
        public static let everyService = "*"
        /// Names the job service.
        public static let jobService = "Jobs"
    }

    /// An operation that can be granted.
    public enum Operation: String, Hashable, Sendable, Codable, CaseIterable {
        /// Read: metadata, pictures, identify, query, addresses.
        case query
        /// Change features.
        case edit
        /// Upload, submit jobs, and read and cancel own jobs.
        case jobs
        /// Read and cancel the jobs of others; with `jobs`.
        case manageJobs
        /// Read the metrics of the site's processes.
        case metrics
        /// Read the audit: users, addresses, their questions, and the features that answers showed.
        case audit
        /// See the past unrestricted, with features removed, hidden or deleted since.
        case history
        /// See internal details: answers of other servers, reasons why a layer could not be loaded.
        case admin
    }

    /// The name of the anonymous grants, reserved so that no user can have it.
    public static let anonymousName = "anonymous"

    /// The user of that name.
    public func user(_ name: String) -> User? { users.first { $0.name == name } }

    /// Throws `Failure` (`invalidParameter`) for inconsistent rules.
    public func check() throws(Failure) {
        guard formatVersion == 1 else {
            throw Failure(
                .newerVersion, "its formatVersion is \(formatVersion); this build knows 1")
        }
        var names: Set<String> = []
        for user in users {
            guard Self.isUserName(user.name), names.insert(user.name).inserted else {
                throw Failure(
                    .invalidParameter,
                    "user name '\(user.name.prefix(80))': expected 1 to 64 letters, digits, '-', "
                        + "'_', '.' "
                        + "or '@', each name once, and not '\(Self.anonymousName)'")
            }
        }
        guard ([quota, anonymousQuota] + users.map(\.quota)).allSatisfy({ $0?.isSound != false })
        else { throw Failure(.invalidParameter, "a quota is a number, 0 or more") }
        for grant in anonymous + users.flatMap(\.grants) {
            guard 1...256 ~= grant.service.utf8.count else {
                throw Failure(.invalidParameter, "a service's name has 1 to 256 bytes, or is '*'")
            }
        }
    }

    /// Whether a text can name a user.
    public static func isUserName(_ name: String) -> Bool {
        1...64 ~= name.utf8.count && name != anonymousName
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.@".contains($0)) }
    }
}
