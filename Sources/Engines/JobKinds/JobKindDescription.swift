// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The public description of a job kind: summary, input, product and parameters, as `cairn job
/// kinds` and the tasks of the geoprocessing service publish them.
public struct JobKindDescription: Hashable, Sendable, Codable {
    /// A parameter.
    public struct Parameter: Hashable, Sendable, Codable {
        /// Its name, as in `cairn job submit --param NAME=VALUE`.
        public var name: String
        /// The type of its value.
        public var type: ParameterType
        /// Its description, one sentence.
        public var summary: String
        /// Whether it is required.
        public var isRequired: Bool
        /// The default value; nil where that depends on the map or the input.
        public var defaultValue: String?
        /// The allowed values; empty for any.
        public var choices: [String]
    }

    /// The type of a parameter's value.
    public enum ParameterType: String, Hashable, Sendable, Codable {
        /// Any text.
        case text
        /// A whole number.
        case whole
        /// A number.
        case number
        /// `true` or `false`.
        case flag
    }

    /// The kind.
    public var kind: JobKind
    /// Its description, one sentence.
    public var summary: String
    /// The form of its input file, in a few words; nil for a kind without input.
    public var input: String?
    /// The form of its product, in a few words.
    public var output: String
    /// The media type of the product; where a parameter decides, that of its default.
    public var outputMediaType: String
    /// Its parameters, the required ones first.
    public var parameters: [Parameter]
    /// The services that its jobs read besides their input; access to the products requires access
    /// to these.
    public var reads: [Read]
    /// Whether its input is a file of jobs (`Batch.Item`), which names their inputs by hash.
    public var inputNamesBlobs: Bool

    /// Every kind of this build, by name.
    public static let all = JobKinds.all.map { $0.description }

    /// The kind of that name; nil for an unknown one.
    public static func of(_ kind: JobKind) -> JobKindDescription? {
        all.first { $0.kind == kind }
    }
}

extension JobKindDescription.Parameter {
    static func text(
        _ name: String, _ summary: String, _ value: String? = nil, isRequired: Bool = false,
        of choices: [String] = []
    ) -> Self {
        Self(
            name: name, type: .text, summary: summary, isRequired: isRequired, defaultValue: value,
            choices: choices)
    }

    static func whole(
        _ name: String, _ summary: String, _ value: String? = nil
    ) -> Self { plain(name, .whole, summary, value) }

    static func number(
        _ name: String, _ summary: String, _ value: String? = nil
    ) -> Self { plain(name, .number, summary, value) }

    static func flag(_ name: String, _ summary: String) -> Self {
        plain(name, .flag, summary, "false")
    }

    private static func plain(
        _ name: String, _ type: JobKindDescription.ParameterType, _ summary: String,
        _ value: String?
    ) -> Self {
        Self(
            name: name, type: type, summary: summary, isRequired: false, defaultValue: value,
            choices: [])
    }
}
