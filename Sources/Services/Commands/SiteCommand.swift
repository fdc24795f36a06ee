// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// Options of every command.
struct CommonOptions: ParsableArguments {
    @Option(help: "The site's directory; CAIRN_SITE otherwise.", completion: .directory)
    var site: String?
    @Flag(help: "Write JSON Lines for programs.") var json = false

    /// Whether neither the option nor the environment names a site.
    var hasNoSite: Bool {
        (site ?? ProcessInfo.processInfo.environment["CAIRN_SITE"] ?? "").isEmpty
    }

    /// The given directory; throws `Failure` (`invalidParameter`) without one.
    func sitePath() throws -> String {
        let path = site ?? ProcessInfo.processInfo.environment["CAIRN_SITE"]
        guard let path, !path.isEmpty else {
            throw UsageFailure("no site: give --site DIRECTORY or set CAIRN_SITE")
        }
        return path
    }
}

/// Invalid arguments: exit code 64.
struct UsageFailure: Error {
    var failure: Failure

    init(_ sentence: String) { failure = Failure(.invalidParameter, sentence) }

    /// Runs a parser of arguments; its failures become usage failures.
    static func reading<Value>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw UsageFailure(failure: error)
        }
    }

    private init(failure: Failure) { self.failure = failure }
}

/// A command on a site.
///
/// A failure is one sentence on standard error and an exit code: 1 (refused or failed), 64 (invalid
/// arguments) or 69 (unavailable).
protocol SiteCommand: AsyncParsableCommand {
    var common: CommonOptions { get }
    /// Whether the command turns a directory into a site.
    static var makesSite: Bool { get }
    /// Opens the site, or makes it.
    func site(at path: String) throws -> Site
    /// Executes the command.
    func perform(_ session: Session) async throws
}

/// A command that changes nothing, and is answered from the site's files where the site is down.
protocol ReadingCommand: SiteCommand {}

extension SiteCommand {
    static var makesSite: Bool { false }

    func site(at path: String) throws -> Site {
        Self.makesSite ? try Site(openingOrCreating: path) : try Site(opening: path)
    }

    /// Opens the site, executes the command, and maps failures to messages and exit codes.
    func run() async throws { try await runOnSite() }

    /// As ``run()``, for a command with a way of its own to begin.
    func runOnSite() async throws {
        try await withExitCodes {
            let session = Session(
                site: try site(at: try common.sitePath()), output: Output(isJSON: common.json),
                readsFiles: self is any ReadingCommand)
            defer { session.close() }
            try await perform(session)
        }
    }
}

extension AsyncParsableCommand {
    /// Runs `body`; prints its failure, and throws the exit code for it.
    func withExitCodes(_ body: () async throws -> Void) async throws {
        do { try await body() } catch { throw Self.code(for: error) }
    }

    /// Prints the failure; returns the exit code to throw.
    private static func code(for error: any Error) -> any Error {
        switch error {
        case let code as ExitCode: return code
        case let usage as UsageFailure:
            Output.diagnose(usage.failure.description)
            return ExitCode(64)
        case let failure as Failure:
            Output.diagnose(failure.description)
            return ExitCode(failure.exitCode)
        case let error as PlatformError:
            Output.diagnose(error.description)
            return ExitCode(1)
        case is CancellationError: return ExitCode(1)
        default: return error
        }
    }
}

extension Failure {
    /// 69 for an unavailable service, otherwise 1.
    var exitCode: Int32 {
        switch code {
        case .unavailable, .logUnavailable, .timedOut, .draining, .busy: 69
        default: 1
        }
    }
}
