// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import ArgumentParser
internal import CairnModel
internal import Glibc
internal import Platform

/// `cairn`: the operator's command line and the terminal client.
package struct CairnCommand: AsyncParsableCommand {
    static let version = Release.version

    package static let configuration = CommandConfiguration(
        commandName: "cairn", abstract: "A map backend that remembers everything.",
        discussion: """
            Every command takes --site DIRECTORY (or CAIRN_SITE) and --json (JSON Lines on \
            standard output). Moments (--at, --from …) are sequence numbers or times: \
            2026-11-21T09:30:00Z, 2026-11-01, 14:30, yesterday, 'last monday', '2 hours ago', in \
            the time zone of TZ, else in UTC. Commands that change nothing answer from the site's \
            files where the site is down, and say so. Exit codes: 0 done, 1 refused or failed, 64 \
            not understood, 69 unavailable.
            """,
        version: version,
        subcommands: [
            UpCommand.self, DownCommand.self, StatusCommand.self, MetricsCommand.self,
            ConfigCommands.self, ImportCommand.self, RefreshCommands.self,
            MapCommands.self, CredentialCommands.self, UserCommands.self, AuditCommands.self,
            EraseCommand.self,
            IdentifyCommand.self, GeocodeCommand.self, SuggestCommand.self, ReverseCommand.self,
            LocatorCommands.self, RouteCommand.self, TableCommand.self, ReachCommand.self,
            MatchCommand.self, NetworkCommands.self, RoadCommands.self,
            JobCommands.self, TilesCommands.self, LogCommands.self,
            WhyCommand.self, UndoCommand.self, SweepCommand.self, ReplayCommand.self,
            BackupCommand.self, RestoreCommand.self, DrillCommands.self, ViewCommand.self,
        ])

    /// Runs the command line of this process and exits with its code.
    package static func run() async {
        PrivateFiles.makeNewFilesPrivate()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let misspelt = misspelling(in: arguments) {
            Output.diagnose(misspelt)
            Glibc.exit(64)
        }
        await main(readable(arguments))
    }

    /// A sentence about an unknown subcommand that is near a known one; nil without one.
    static func misspelling(in arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = CairnCommand.self
        var path = "cairn"
        for word in arguments {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || word.hasPrefix("-") { return nil }
            if let next = subcommands.first(where: { $0._commandName == word }) {
                (command, path) = (next, "\(path) \(word)")
                continue
            }
            let known = subcommands.map { $0._commandName } + ["help"]
            guard !known.contains(word), NearestWord.nearest(to: word, among: known) != nil else {
                return nil
            }
            return "'\(path)' has no subcommand '\(word)'"
                + NearestWord.sentence(for: word, among: known)
        }
        return nil
    }

    /// Arguments prepared for the parser: text of a minus and a digit is a value (`--extent
    /// -5,41,10,52`), never an option, which a leading space ensures.
    static func readable(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            let rest = argument.dropFirst()
            guard argument.first == "-", let next = rest.first, next.isNumber || next == "." else {
                return argument
            }
            return " " + argument
        }
    }

    /// Required by the argument parser.
    package init() {}
}
