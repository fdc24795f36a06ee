// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Configuration
internal import FoundationEssentials
internal import Synchronization

/// The settings of a process: an argument overrides the environment, which overrides the file.
///
/// Everything is read and checked at once; ``faults`` has a line for each value that is not what
/// was expected, and for each unknown name.
public struct Settings: Sendable {
    /// Where a value comes from.
    enum Source: Hashable, Sendable {
        case arguments, environment, file
    }

    /// What is wrong with a setting.
    public struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// Whether it stands in the file.
        public let isInFile: Bool
        /// The setting with its source, and what was expected.
        public let description: String
    }

    /// The variable that names the file where no argument does.
    public static let fileVariable = "CAIRN_CONFIG"
    /// The longest file.
    private static let fileByteLimit = 1 << 20

    /// What is wrong, by setting; nothing may be started then.
    public let faults: [Fault]
    private let values: [String: String]

    /// Reads some settings.
    ///
    /// - Parameters:
    ///   - settings: Those that the process has; others are known and not read.
    ///   - arguments: The arguments that were given, by option; those of lists joined by commas.
    ///   - environment: The environment; nil for that of the process.
    ///   - file: The file that an argument names.
    public init(
        _ settings: [Setting], arguments: [String: String] = [:],
        environment: [String: String]? = nil, file: String? = nil
    ) {
        let environment = environment ?? ProcessInfo.processInfo.environment
        var faults: [Fault] = []
        let path = file ?? environment[Self.fileVariable]
        let lines = path.map { Self.read($0, &faults) } ?? [:]
        for name in environment.keys.sorted()
        where name.hasPrefix("CAIRN_GATEWAY_") && Self.isUnknown(name) {
            faults.append(
                Fault(isInFile: false, description: "\(name) in the environment is no setting"))
        }
        var given: [AbsoluteConfigKey: ConfigValue] = [:]
        for setting in settings {
            guard let text = setting.option.flatMap({ arguments[$0] }) else { continue }
            given[AbsoluteConfigKey(setting.key)] = ConfigValue(.string(text), isSecret: false)
        }
        let sources = SourceReporter()
        let reader = ConfigReader(
            providers: [
                InMemoryProvider(name: "arguments", values: given),
                EnvironmentVariablesProvider(environmentVariables: environment),
                EnvironmentVariablesProvider(environmentVariables: lines.mapValues(\.value)),
            ], accessReporter: sources)
        var values: [String: String] = [:]
        for setting in settings {
            guard let text = reader.string(forKey: setting.key) else { continue }
            // As where it is not set.
            if text.isEmpty, setting.form == .text { continue }
            guard !setting.takes(text) else {
                values[setting.name] = text
                continue
            }
            let source = sources.last
            let place =
                switch source {
                case .arguments: setting.option ?? setting.name
                case .environment: setting.name
                case .file: "\(path ?? ""):\(lines[setting.name]?.number ?? 0): \(setting.name)"
                }
            faults.append(
                Fault(
                    isInFile: source == .file,
                    description:
                        "\(place) is '\(text.prefix(80))': expected \(setting.expected)"))
        }
        self.faults = faults
        self.values = values
    }

    // MARK: Values

    /// The text of a setting; nil where it is not set.
    public subscript(_ setting: Setting) -> String? { values[setting.name] }

    /// The number of a setting.
    public func whole(_ setting: Setting) -> Int? { values[setting.name].flatMap { Int($0) } }

    /// Whether a setting is on.
    public func flag(_ setting: Setting) -> Bool? { values[setting.name].flatMap(Setting.flag) }

    /// The texts of a setting; none where it is not set.
    public func list(_ setting: Setting) -> [String] {
        values[setting.name]?.split(separator: ",").map(String.init) ?? []
    }

    // MARK: The file

    private typealias Line = (number: Int, value: String)

    /// The lines of a file by name.
    private static func read(_ path: String, _ faults: inout [Fault]) -> [String: Line] {
        func note(_ sentence: String) {
            faults.append(Fault(isInFile: true, description: sentence))
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            note("the file of settings '\(path)' cannot be read")
            return [:]
        }
        guard data.count <= fileByteLimit, let text = String(data: data, encoding: .utf8) else {
            note("the file of settings '\(path)': expected UTF-8 of at most \(fileByteLimit) bytes")
            return [:]
        }
        var lines: [String: Line] = [:]
        let all = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in all.enumerated() {
            let trimmed = trimmed(line)
            guard !trimmed.isEmpty, !trimmed.hasPrefix("#") else { continue }
            guard let sign = trimmed.firstIndex(of: "=") else {
                note("\(path):\(index + 1): '\(trimmed.prefix(80))': expected NAME=value")
                continue
            }
            let name = String(Self.trimmed(trimmed[..<sign]))
            guard !isUnknown(name) else {
                note("\(path):\(index + 1): '\(name.prefix(80))' is no setting")
                continue
            }
            guard lines[name] == nil else {
                note("\(path):\(index + 1): \(name) stands in line \(lines[name]?.number ?? 0) too")
                continue
            }
            var value = Self.trimmed(trimmed[trimmed.index(after: sign)...])
            if value.count > 1, value.hasPrefix("\""), value.hasSuffix("\"") {
                value = value.dropFirst().dropLast()
            }
            lines[name] = (index + 1, String(value))
        }
        return lines
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    private static func isUnknown(_ name: String) -> Bool {
        !Setting.all.contains { $0.name == name }
    }
}

extension Setting {
    /// The key under which swift-configuration knows it, of which environment providers make its
    /// name again.
    fileprivate var key: ConfigKey {
        ConfigKey(name.lowercased().split(separator: "_").map(String.init))
    }
}

/// Notes which provider gave the value that was read last.
private final class SourceReporter: AccessReporter {
    private let source = Mutex(Settings.Source.arguments)

    var last: Settings.Source { source.withLock { $0 } }

    /// Providers are asked in their order, until one has a value.
    func report(_ event: AccessEvent) {
        source.withLock {
            switch event.providerResults.count {
            case ...1: $0 = .arguments
            case 2: $0 = .environment
            default: $0 = .file
            }
        }
    }
}
