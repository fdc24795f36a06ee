// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Recording
internal import Site
internal import Terminal

struct AuditCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show who asked what, and which features answers showed.",
        discussion: """
            Gateways keep an audit with --audit all, or a share like 0.1, in the folder 'audit' of \
            the site: each question about features, pictures and places with its user, address, \
            moment and the sequence number of the state that answered.
            """,
        subcommands: [AuditShow.self, AuditRedact.self, AuditVerify.self],
        defaultSubcommand: AuditShow.self)
}

struct AuditShow: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "List entries, the first one first.",
        discussion: """
            With --feature, those whose answers showed it: of an identify the audit knows the \
            features; a query is asked again as of then, for which the site must be up, and \
            listed where the feature met it. Pictures have no list of features. JSON: a line for \
            each with at, sequence, user, address, operation, map, point or request, shown and \
            isRedacted.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "A feature: MAP/LAYER/ID with the layer's number.") var feature: String?
    @Option(help: "A user, or 'anonymous'.") var user: String?
    @Option(help: "A map.") var map: String?
    @Option(help: "The first moment.", transform: Reading.time) var from: Timestamp?
    @Option(help: "The moment before which it was answered.", transform: Reading.time)
    var to: Timestamp?

    func perform(_ session: Session) async throws {
        var filter = AuditFilter()
        filter.feature = try feature.map { text in
            guard let feature = AuditFilter.Feature(parsing: text) else {
                throw UsageFailure(
                    "feature '\(text.prefix(80))': expected MAP/LAYER/ID with the layer's number")
            }
            return feature
        }
        (filter.user, filter.map, filter.from, filter.to) = (user, map, from, to)
        var found: [(AuditEntry, QueryRequest?)] = []
        let files = AuditFiles(directory: session.site.auditDirectory)
        try files.forEach { entry in
            switch filter.match(entry) {
            case .none: break
            // In order, though a query before it is still to be asked.
            case .met where feature != nil: found.append((entry, nil))
            case .met: try show(entry, session.output)
            case .ifCounted(let query): found.append((entry, query))
            }
            return true
        }
        for (entry, query) in found {
            if let query, try await !isCounted(query, session) { continue }
            try show(entry, session.output)
        }
    }

    private func isCounted(_ query: QueryRequest, _ session: Session) async throws -> Bool {
        let client = try session.client()
        do throws(Failure) {
            return AuditFilter.isCounted(
                try await client.ask(.query, whole: query, timeout: .seconds(30)))
        } catch {
            guard [.notFound, .invalidParameter, .corrupt].contains(error.code) else {
                throw error
            }
            Output.diagnose("a query of then cannot be asked again: \(error.message)")
            return false
        }
    }

    private func show(_ entry: AuditEntry, _ output: Output) throws {
        let line = AuditLine(entry)
        if output.isJSON { return try output.record(line) }
        let words = [
            line.at.displayText, line.user ?? (entry.isRedacted ? "redacted" : "anonymous"),
            line.address ?? "-", line.operation, line.map ?? "-",
            line.sequence.map { "at \($0)" } ?? "-", line.questionText, line.shownText,
        ]
        try output.line(words.filter { !$0.isEmpty }.joined(separator: " "))
    }
}

struct AuditRedact: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact", abstract: "Remove a person's traces from the audit.",
        discussion: """
            User, address and question of the entries that meet all options given become a \
            digest that tells nothing; moment, map and features shown stay, and seals stay valid. \
            The log records how many, without the person. JSON: one line with entryCount.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The user.") var user: String?
    @Option(help: "The address.") var address: String?
    @Option(help: "The moment before which it was answered.", transform: Reading.time)
    var to: Timestamp?
    @Flag(help: "Only count the entries.") var dryRun = false

    func validate() throws {
        guard user != nil || address != nil else {
            throw ValidationError("Give --user, --address or both.")
        }
    }

    func perform(_ session: Session) async throws {
        let files = AuditFiles(directory: session.site.auditDirectory)
        var count = 0
        func isMeant(_ entry: AuditEntry) -> Bool {
            if entry.isRedacted { return false }
            if let user, (entry.user ?? AuditFilter.anonymousName) != user { return false }
            if let address, entry.address != address { return false }
            return to.map { entry.at < $0 } ?? true
        }
        if dryRun {
            try files.forEach { entry in
                if isMeant(entry) { count += 1 }
                return true
            }
        } else {
            count = try files.redact(isMeant)
            if count > 0 {
                try await session.record(SiteAuditRedacted(entryCount: count), in: .siteAccess)
            }
        }
        if session.output.isJSON { return try session.output.record(["entryCount": count]) }
        try session.output.line(
            "\(count) entries \(dryRun ? "would lose" : "have lost") user, address and question")
    }
}

struct AuditVerify: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare the audit's files with their seals.",
        discussion: """
            A file gets its seal when it is complete; a redaction leaves it valid. JSON: one line \
            with sealedCount, openCount, entryCount and redactedCount.
            """)

    @OptionGroup var common: CommonOptions

    func perform(_ session: Session) async throws {
        let sum = try AuditFiles(directory: session.site.auditDirectory).verify()
        if session.output.isJSON { return try session.output.record(sum) }
        try session.output.line(
            "\(sum.entryCount) entries, \(sum.redactedCount) of them redacted; \(sum.sealedCount) "
                + "files agree with their seals, \(sum.openCount) have none yet")
    }
}
