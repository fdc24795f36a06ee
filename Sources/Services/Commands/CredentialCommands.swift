// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Site

struct CredentialCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "Manage the credentials for other servers.",
        discussion: """
            A secret is kept in the site, in a file of its own readable by its owner only. Layers \
            refer to it by name; it never appears in the log, in an answer or on a command line.
            """,
        subcommands: [CredentialSet.self, CredentialList.self, CredentialRemove.self])
}

struct CredentialSet: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Store a secret read from standard input.",
        discussion: """
            Without --user it is a token: a bearer token for WMS, the parameter 'token' for \
            ArcGIS, the password of the user that the address of a database states. It replaces \
            the one of that name, from the next request on.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "Its name: 1 to 64 letters, digits, '-' or '_'.") var name: String
    @Option(help: "The user's name, for a password.") var user: String?

    func perform(_ session: Session) async throws {
        guard let secret = readLine(strippingNewline: true), !secret.isEmpty else {
            throw UsageFailure("expected the secret as one line on standard input")
        }
        try session.site.credentials.set(Credential(user: user, secret: secret), as: name)
        try CredentialLine.show([name], session)
    }
}

struct CredentialList: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the names of the credentials.")

    @OptionGroup var common: CommonOptions

    func perform(_ session: Session) async throws {
        try CredentialLine.show(session.site.credentials.names, session)
    }
}

struct CredentialRemove: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a credential.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "Its name.") var name: String

    func perform(_ session: Session) async throws {
        guard try session.site.credentials.remove(name) else {
            throw Failure(.notFound, "the site has no credential '\(name)'")
        }
        try CredentialLine.show([name], session)
    }
}

/// The output line of a credential: its name.
private struct CredentialLine: Encodable {
    var credential: String

    static func show(_ names: [String], _ session: Session) throws {
        if session.output.isJSON {
            for name in names { try session.output.record(CredentialLine(credential: name)) }
        } else {
            try session.output.lines(names)
        }
    }
}
