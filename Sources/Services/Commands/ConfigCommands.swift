// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Settings

struct ConfigCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "The file of settings that every process reads.",
        subcommands: [ConfigCheck.self, ConfigExample.self])
}

struct ConfigCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a file of settings without starting anything.",
        discussion: """
            Every program checks its settings; the gateway also reads certificates and looks up \
            addresses and names. Exits 0 where nothing is wrong, 78 otherwise, after a line for \
            each fault with the file and the line in it.
            """)

    @Argument(help: "The file; CAIRN_CONFIG otherwise.", completion: .file()) var file: String?

    func run() async throws {
        try await withExitCodes {
            let variable = ProcessInfo.processInfo.environment[Settings.fileVariable]
            guard let path = (file ?? variable).map(FileSystem.absolute) else {
                throw UsageFailure("no file: give one, or set \(Settings.fileVariable)")
            }
            guard let program = OwnProgram.path(), let slash = program.lastIndex(of: "/") else {
                throw Failure(.internal, "the path of this program is not known")
            }
            let settings = Settings(Setting.up, arguments: [:], file: path)
            for fault in settings.faults { Output.diagnose(fault.description) }
            guard settings.faults.isEmpty else { throw ExitCode(78) }
            // No site is made there.
            let scratch =
                FileManager.default.temporaryDirectory.path
                + "/cairn-config-\(ProcessInfo.processInfo.processIdentifier)"
            let plans = ProcessRole.all.map { role in
                var arguments = ["--site", scratch, "--config", path]
                if case .worker(let pool) = role { arguments += ["--pool", pool.name] }
                return ProcessPlan(
                    role: role, number: 1,
                    path: program[..<slash] + "/" + role.executable, arguments: arguments,
                    logPath: "")
            }
            try plans.checkExecutables()
            try FileManager.default.createDirectory(
                atPath: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: scratch) }
            try await plans.checkSettings(runDirectory: scratch)
        }
    }
}

struct ConfigExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "example", abstract: "Print a file with every setting, commented out.")

    func run() async throws {
        try await withExitCodes { try Output(isJSON: false).write(Setting.example) }
    }
}
