// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import MapState
internal import Platform
internal import Replay
internal import Secrets
internal import Site

struct UserCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Manage the users of the site's gateways.",
        discussion: """
            A permission is an operation (query, edit, jobs, manageJobs, metrics, audit, history \
            or admin), for all services, or after ':' for one: query, edit:Roads, jobs. The first \
            command puts access rules in force: from then on only permitted operations are \
            allowed, also for clients without a token, here named 'anonymous'. Running gateways \
            follow within a second. Each change is recorded in the log, without secrets.
            """,
        subcommands: [
            UserAdd.self, UserPassword.self, UserAllow.self, UserQuota.self, UserList.self,
            UserRemove.self,
        ])
}

struct UserAdd: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user; the password is typed, or a line of standard input.")
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "The name: 1 to 64 letters, digits, '-', '_', '.' or '@'.") var name: String
    @Option(help: "A permission of the user; may be repeated.") var allow: [String] = []

    func perform(_ session: Session) async throws {
        let grants = try await Grants.read(allow, of: session)
        guard AccessRules.isUserName(name) else {
            throw UsageFailure(
                "user name '\(name.prefix(80))': expected 1 to 64 letters, digits, '-', '_', '.' "
                    + "or '@', and not "
                    + "'\(AccessRules.anonymousName)'")
        }
        guard try session.site.access.rules()?.user(name) == nil else {
            throw Failure(.conflict, "there is a user '\(name)' already")
        }
        let hash = try NewPassword.read()
        try await session.changeAccess(.added, of: name) { rules throws(Failure) in
            guard rules.user(name) == nil else {
                throw Failure(.conflict, "there is a user '\(name)' already")
            }
            rules.users.append(.init(name: name, passwordHash: hash, grants: grants))
        }
    }
}

struct UserPassword: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Give a user another password; the user's tokens end.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user's name.") var name: String

    func perform(_ session: Session) async throws {
        _ = try Grants.user(name, in: try session.site.access.rules() ?? AccessRules())
        let hash = try NewPassword.read()
        try await session.changeAccess(.password, of: name) { rules throws(Failure) in
            rules.users[try Grants.user(name, in: rules)].passwordHash = hash
        }
    }
}

struct UserAllow: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Set the permissions of a user, or of 'anonymous'; the user's tokens end.",
        discussion: "Replaces the previous permissions; without an operation nothing is allowed.")
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user's name, or 'anonymous'.") var name: String
    @Argument(help: "An operation, as query or edit, and perhaps ':' and a service.")
    var operations: [String] = []

    func perform(_ session: Session) async throws {
        let grants = try await Grants.read(operations, of: session)
        try await session.changeAccess(.permissions, of: name) { rules throws(Failure) in
            if name == AccessRules.anonymousName {
                rules.anonymous = grants
            } else {
                rules.users[try Grants.user(name, in: rules)].grants = grants
            }
        }
    }
}

struct UserQuota: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Set the quota of a user, of 'anonymous', or the default.",
        discussion: """
            Limits that are not given stay; the word 'default' removes a limit. The quota of \
            anonymous is shared by all clients without a token. The built-in default is 10 GiB, 20 \
            jobs and 4 uploads. Tokens remain valid.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user's name, or 'anonymous'.") var name: String?
    @Flag(name: .customLong("default"), help: "The quota of users without one of their own.")
    var isDefault = false
    @Option(help: "Bytes of stored uploads and of products.") var bytes: QuotaNumber?
    @Option(help: "Jobs that have not ended.") var jobs: QuotaNumber?
    @Option(help: "Concurrent uploads at a gateway.") var uploads: QuotaNumber?

    func validate() throws {
        guard (name == nil) == isDefault else {
            throw ValidationError("expected a user's name, 'anonymous' or --default, one of them")
        }
    }

    func perform(_ session: Session) async throws {
        try await session.changeAccess(.quota, of: name) { rules throws(Failure) in
            switch name {
            case nil: rules.quota = changed(rules.quota)
            case AccessRules.anonymousName: rules.anonymousQuota = changed(rules.anonymousQuota)
            case let name?:
                let index = try Grants.user(name, in: rules)
                rules.users[index].quota = changed(rules.users[index].quota)
            }
        }
    }

    private func changed(_ quota: Quota?) -> Quota? {
        var quota = quota ?? Quota()
        if let bytes { quota.bytes = bytes.number }
        if let jobs { quota.jobs = jobs.number.map { Int(clamping: $0) } }
        if let uploads { quota.uploads = uploads.number.map { Int(clamping: $0) } }
        return quota.isEmpty ? nil : quota
    }
}

/// A limit, or the word that removes it.
struct QuotaNumber: ExpressibleByArgument {
    let number: Int64?

    init?(argument: String) {
        number = Int64(argument)
        guard argument == "default" || number ?? -1 >= 0 else { return nil }
    }
}

struct UserList: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the users and their permissions.",
        discussion: """
            A site without access rules is open: every client may do everything. JSON: one \
            {"user":"anonymous","allowed":["everything"],"isOpen":true} then, otherwise a line \
            for each user.
            """)

    @OptionGroup var common: CommonOptions

    private struct OpenLine: Encodable {
        var user = AccessRules.anonymousName
        var allowed = ["everything"]
        var isOpen = true
    }

    func perform(_ session: Session) async throws {
        guard try session.site.access.rules() == nil else { return try UserLine.show(session) }
        if session.output.isJSON { return try session.output.record(OpenLine()) }
        try session.output.line(
            "the site is open: every client may do everything, until the first 'cairn user add' or "
                + "'cairn user allow' puts access rules in force")
    }
}

struct UserRemove: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a user; the user's tokens end.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user's name.") var name: String

    func perform(_ session: Session) async throws {
        try await session.changeAccess(.removed, of: name) { rules throws(Failure) in
            rules.users.remove(at: try Grants.user(name, in: rules))
        }
        try session.site.uploads.forget(.user(name))
    }
}

private enum Grants {
    /// `query`, `edit:Roads`, of services that the site has.
    static func read(
        _ texts: [String], of session: Session
    ) async throws -> [AccessRules.Grant] {
        let grants = try read(texts)
        let named = grants.map(\.service).filter { $0 != AccessRules.Grant.everyService }
        guard !named.isEmpty else { return grants }
        let services = try await session.serviceNames()
        for service in named
        where !services.exact.contains(service)
            && !services.inAnyCase.contains(where: { $0.lowercased() == service.lowercased() })
        {
            throw UsageFailure(
                "there is no service '\(service.prefix(80))': expected a map, a locator, a "
                    + "road network, or "
                    + "'\(AccessRules.Grant.jobService)'"
                    + NearestWord.sentence(
                        for: service, among: services.exact + services.inAnyCase))
        }
        return grants
    }

    private static func read(_ texts: [String]) throws -> [AccessRules.Grant] {
        try texts.map { text in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let operation = AccessRules.Operation(rawValue: String(parts[0])),
                parts.count == 1 || !parts[1].isEmpty
            else {
                let known = AccessRules.Operation.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageFailure(
                    "'\(text.prefix(80))': expected one of \(known), and perhaps ':' and a service"
                        + NearestWord.sentence(
                            for: String(parts[0]),
                            among: AccessRules.Operation.allCases.map(\.rawValue)))
            }
            return AccessRules.Grant(
                operation, on: parts.count == 1 ? AccessRules.Grant.everyService : String(parts[1]))
        }
    }

    static func user(_ name: String, in rules: AccessRules) throws(Failure) -> Int {
        guard let index = rules.users.firstIndex(where: { $0.name == name }) else {
            throw Failure(
                .notFound,
                "there is no user '\(name.prefix(80))'"
                    + NearestWord.sentence(for: name, among: rules.users.map(\.name)))
        }
        return index
    }
}

private enum NewPassword {
    /// Reads a password, twice from a terminal, and hashes it.
    static func read() throws -> String {
        let password = SecretInput.read(prompt: "Password: ")
        guard let password, 8...1_024 ~= password.utf8.count else {
            throw UsageFailure("a password has 8 to 1024 bytes, in one line of standard input")
        }
        if StandardStream.isInputTerminal, SecretInput.read(prompt: "Again: ") != password {
            throw UsageFailure("the two passwords differ")
        }
        guard let hash = PasswordHash.make(password) else {
            throw Failure(.unavailable, "out of memory: the hash of a password needs 64 MiB")
        }
        return hash
    }
}

/// The output line of a user: name, permissions and limits.
private struct UserLine: Encodable {
    var user: String
    var allowed: [String]
    var quota: Quota.Limits

    static func show(_ session: Session, only name: String? = nil) throws {
        let rules = try session.site.access.rules() ?? AccessRules()
        let everybody = [(AccessRules.anonymousName, rules.anonymous)]
        for (user, grants) in everybody + rules.users.map({ ($0.name, $0.grants) })
        where name == nil || name == user {
            let allowed = grants.map(\.text)
            let limits = rules.limits(of: user == AccessRules.anonymousName ? nil : user)
            if session.output.isJSON {
                try session.output.record(UserLine(user: user, allowed: allowed, quota: limits))
            } else {
                let quota = [
                    "bytes=\(limits.bytes)", "jobs=\(limits.jobs)", "uploads=\(limits.uploads)",
                ]
                try session.output.line(([user] + allowed + quota).joined(separator: " "))
            }
        }
    }
}

extension AccessRules.Grant {
    /// `query`, `edit:Roads`.
    fileprivate var text: String {
        operation.rawValue + (service == Self.everyService ? "" : ":" + service)
    }
}

extension Session {
    /// The names that a grant may have: of maps exactly, of locators, road networks and the job
    /// service in any case.
    fileprivate func serviceNames() async throws -> (exact: [String], inAnyCase: [String]) {
        let (maps, networks): (MapsState, NetworksState)
        if isUp || supervisor != nil {
            (maps, networks) = (try await self.maps(), try await self.networks())
        } else {
            let state = try withStoppedLog { _ throws(Failure) in
                try SiteState(ofLog: site.logFile)
            }
            (maps, networks) = (state.maps, state.networks)
        }
        return (
            maps.mapNames.map(\.rawValue),
            maps.locatorNames + networks.names + [AccessRules.Grant.jobService]
        )
    }

    /// Changes the access rules, records the change, and shows what holds for the subject now.
    ///
    /// The rules are in force before the log has the event; where it cannot be recorded, the
    /// failure says so.
    fileprivate func changeAccess(
        _ change: SiteAccessChanged.Change, of subject: String?,
        _ body: (inout AccessRules) throws(Failure) -> Void
    ) async throws {
        let wasOpen = try site.access.rules() == nil
        try site.access.change(body)
        if wasOpen {
            Output.diagnose(
                "access rules are in force from now on: only permitted operations are allowed, and "
                    + "clients without a token, 'anonymous', are permitted none unless "
                    + "'cairn user allow anonymous …' says so")
        }
        let rules = try site.access.rules() ?? AccessRules()
        let event = SiteAccessChanged(change, of: subject, rules, closesSite: wasOpen)
        do {
            try await record(event, in: .siteAccess)
        } catch {
            throw Failure(
                (error as? Failure)?.code ?? .internal,
                "the change is in force, but the log could not record it: \(error)")
        }
        if change != .removed { try UserLine.show(self, only: subject) }
    }
}

extension SiteAccessChanged {
    /// What holds for the subject now.
    fileprivate init(
        _ change: Change, of subject: String?, _ rules: AccessRules, closesSite: Bool
    ) {
        let user = subject.flatMap { rules.user($0) }
        let (grants, quota): ([AccessRules.Grant]?, Quota?) =
            switch subject {
            case nil: (nil, rules.quota)
            case AccessRules.anonymousName: (rules.anonymous, rules.anonymousQuota)
            default: (user?.grants, user?.quota)
            }
        self.init(
            change, of: subject, permissions: grants?.map(\.text),
            quota: quota.map {
                AccessQuota(bytes: $0.bytes, jobs: $0.jobs, uploads: $0.uploads)
            }, closesSite: closesSite ? true : nil)
    }
}
