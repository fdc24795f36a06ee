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
        /// What its text stands for.
        public var type: ParameterType
        /// One sentence.
        public var summary: String
        /// Whether there is no job without it.
        public var isRequired: Bool
        /// What counts where it is absent; nil where that depends on the map or the input.
        public var defaultValue: String?
        /// The only texts it may be; empty where there is no such list.
        public var choices: [String]
    }

    /// What the text of a parameter stands for.
    public enum ParameterType: String, Hashable, Sendable, Codable {
        /// Itself.
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
    /// One sentence.
    public var summary: String
    /// What its input file is, in a few words; nil for a kind whose jobs have none.
    public var input: String?
    /// What its product is, in a few words.
    public var output: String
    /// The media type of the product; where a parameter decides, that of its published value.
    public var outputMediaType: String
    /// Its parameters, the required ones first.
    public var parameters: [Parameter]
    /// The services that its jobs read besides their input; their products need the right to read
    /// these.
    public var reads: [Read]
    /// Whether its input is a file of jobs (`Batch.Item`), whose own inputs it names by their
    /// hashes.
    public var inputNamesBlobs: Bool

    /// Every kind that the workers of this build can do, by name.
    public static let all = JobKinds.all.map { $0.description }

    /// The kind of that name; nil when there is none.
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
