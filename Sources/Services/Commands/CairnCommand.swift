// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import ArgumentParser
internal import CairnModel
internal import Platform

/// `cairn`: the operator's command line and the terminal client.
package struct CairnCommand: AsyncParsableCommand {
    static let version = Release.version

    package static let configuration = CommandConfiguration(
        commandName: "cairn", abstract: "A map backend that remembers everything.",
        discussion: """
            Every command takes --site DIRECTORY (or CAIRN_SITE) and --json (JSON Lines on \
            standard output). Exit codes: 0 done, 1 refused or failed, 64 not understood, 69 \
            unavailable.
            """,
        version: version,
        subcommands: [
            UpCommand.self, DownCommand.self, StatusCommand.self, MetricsCommand.self,
            ConfigCommands.self,
            ImportCommand.self,
            MapCommands.self, CredentialCommands.self, UserCommands.self, AuditCommands.self,
            IdentifyCommand.self, GeocodeCommand.self, SuggestCommand.self, ReverseCommand.self,
            LocatorCommands.self, JobCommands.self, LogCommands.self,
            WhyCommand.self, UndoCommand.self, SweepCommand.self, ReplayCommand.self,
            BackupCommand.self, RestoreCommand.self, DrillCommands.self, ViewCommand.self,
        ])

    /// Runs the command line of this process and exits with its code.
    package static func run() async {
        PrivateFiles.makeNewFilesPrivate()
        await main(readable(Array(CommandLine.arguments.dropFirst())))
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
