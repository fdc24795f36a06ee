// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import EsriForms
internal import Logging
internal import Platform
internal import Secrets
internal import Site
internal import Synchronization

/// Access rules of the site and verification of its tokens.
///
/// The file of the rules is read again whenever it changes (``watch()``). Until rules exist for
/// the first time, every caller has all permissions; after that, a missing file allows nothing, and
/// an unreadable one leaves the last rules in force.
final class AccessControl: Sendable {
    /// An immutable version of the rules.
    final class Snapshot: Sendable {
        /// Nil without rules.
        let rules: AccessRules?
        let key: [UInt8]
        private let users: [String: (user: AccessRules.User, digest: [UInt8])]

        init(_ rules: AccessRules?, key: [UInt8]) {
            self.rules = rules
            self.key = key
            var users: [String: (user: AccessRules.User, digest: [UInt8])] = [:]
            for user in rules?.users ?? [] {
                users[user.name] = (user, Self.digest(user))
            }
            self.users = users
        }

        func user(_ name: String) -> AccessRules.User? { users[name]?.user }

        /// Digest of a user's entry: a changed entry invalidates its tokens.
        func digest(_ name: String) -> [UInt8]? { users[name]?.digest }

        private static func digest(_ user: AccessRules.User) -> [UInt8] {
            var json = JSONWriter()
            json.object { json in
                json.member("name", user.name)
                json.member("passwordHash", user.passwordHash)
                json.member("grants", array: user.grants) { json, grant in
                    json.array { json in
                        json.string(grant.operation.rawValue)
                        json.string(grant.service)
                    }
                }
            }
            return SHA256.digest(json.bytes).bytes
        }
    }

    private let store: AccessStore?
    private let logger: Logger?
    private let state: Mutex<Snapshot>
    private let stamp: Mutex<FileStamp?>
    private let lastComplaint = Mutex("")
    private let stateNumber = Atomic<Int>(1)

    /// Access control without rules, which never get any.
    static var none: AccessControl { AccessControl() }

    private init() {
        store = nil
        logger = nil
        state = Mutex(Snapshot(nil, key: []))
        stamp = Mutex(nil)
    }

    /// Reads the rules; throws as `AccessStore.rules()` and `AccessStore.tokenKey()`.
    init(_ store: AccessStore, logger: Logger) throws(Failure) {
        self.store = store
        self.logger = logger
        stamp = Mutex(store.stamp)
        let rules = try store.rules()
        state = Mutex(Snapshot(rules, key: rules == nil ? [] : try store.tokenKey()))
    }

    /// The current rules.
    var snapshot: Snapshot { state.withLock { $0 } }

    /// Whether there are users, so that a login is possible.
    var hasUsers: Bool { snapshot.rules?.users.isEmpty == false }

    /// Version number of ``snapshot``, so that a reader can skip an unchanged one.
    var number: Int { stateNumber.load(ordering: .acquiring) }

    /// Reads the file if it has changed; blocks on the disk.
    func refresh() {
        guard let store else { return }
        let found = store.stamp
        guard stamp.withLock({ $0 }) != found else { return }
        do throws(Failure) {
            let rules = try store.rules()
            let key = snapshot.key.isEmpty && rules != nil ? try store.tokenKey() : snapshot.key
            let fresh = Snapshot(rules ?? AccessRules(), key: key)
            state.withLock { $0 = fresh }
            stateNumber.add(1, ordering: .releasing)
            stamp.withLock { $0 = found }
            lastComplaint.withLock { $0 = "" }
        } catch {
            let isNew = lastComplaint.withLock { last in
                defer { last = error.message }
                return last != error.message
            }
            if isNew {
                logger?.error(
                    "access rules not reloaded", metadata: ["why": "\(error.message)"])
            }
        }
    }

    /// Watches the file for changes until the watch is stopped; nil where there can be no rules.
    func watch() throws(Failure) -> AccessWatch? {
        guard let store else { return nil }
        return try AccessWatch(self, in: store.directory)
    }
}

extension AccessControl.Snapshot {
    /// The caller of a request, by its token, else by its session's cookie; `now` is in
    /// milliseconds since 1970.
    ///
    /// Throws `Failure` (`invalidToken`). An invalid or expired cookie counts as absent.
    func caller(token: String?, _ client: RequestClient, now: Int64) throws(Failure) -> Caller {
        guard let rules else { return .unruled }
        guard let text = token ?? client.token else {
            guard let session = session(client, now: now), let user = user(session.user) else {
                return Caller(user: nil, grants: rules.anonymous)
            }
            return Caller(
                user: user.name, grants: rules.anonymous + user.grants, session: session)
        }
        func invalid(_ why: String) -> Failure {
            Failure(.invalidToken, "Invalid token.", details: [why])
        }
        guard key.count == KeyedHash.byteCount,
            let token = Token(text, key: key, entry: digest), let user = user(token.user)
        else { throw invalid("It was not made here, or the user has changed since.") }
        guard token.expires > now else { throw invalid("It has expired.") }
        guard token.isBound(to: client) else {
            throw invalid("It was made for another referer or address.")
        }
        return Caller(user: user.name, grants: rules.anonymous + user.grants)
    }

    /// The session of the client's cookie; nil without one, or after its end.
    func session(_ client: RequestClient, now: Int64) -> Session? {
        guard let text = client.session, key.count == KeyedHash.byteCount,
            let token = Token(text, key: key, entry: digest), case .session = token.binding,
            token.expires > now
        else { return nil }
        return Session(user: token.user, proof: Session.proof(of: text, key: key))
    }
}
