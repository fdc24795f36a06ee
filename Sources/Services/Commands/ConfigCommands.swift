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
            Every program checks its settings; the gateway also reads certificates, looks up \
            addresses and names, and with --site reads the site's access rules. Exits 0 where \
            nothing is wrong, 78 for a fault of form and 64 for any other, after a line for each. \
            JSON: one line with file.
            """)

    @OptionGroup var common: CommonOptions
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
                var arguments = ["--site", common.site ?? scratch, "--config", path]
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
            let output = Output(isJSON: common.json)
            if output.isJSON { try output.record(["file": path]) }
        }
    }
}

struct ConfigExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "example", abstract: "Print a file with every setting, commented out.",
        discussion: "JSON: a line for each setting with name, option, help, expected, standard.")

    @OptionGroup var common: CommonOptions

    private struct Line: Encodable {
        var name: String
        var option: String?
        var help: String
        var expected: String
        var standard: String
    }

    func run() async throws {
        try await withExitCodes {
            let output = Output(isJSON: common.json)
            guard output.isJSON else { return try output.write(Setting.example) }
            for setting in Setting.all where !setting.help.isEmpty {
                try output.record(
                    Line(
                        name: setting.name, option: setting.option, help: setting.help,
                        expected: setting.expected, standard: setting.standard))
            }
        }
    }
}
