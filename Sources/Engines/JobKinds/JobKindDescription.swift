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

    /// An attribute of features.
    public struct Field: Hashable, Sendable, Codable {
        /// Its name.
        public var name: String
        /// The type of its values.
        public var type: ParameterType
    }

    /// Features that a job may be given as its input, in place of a file: a parameter of the
    /// geoprocessing service's task.
    ///
    /// They arrive as GeoJSON (RFC 7946) in the job's input; those of several parameters are
    /// joined, each with a member `role` beside its `properties`.
    public struct FeatureInput: Hashable, Sendable, Codable {
        /// Its name.
        public var name: String
        /// Its description, one sentence.
        public var summary: String
        /// Esri's type of their geometries, without its prefix: `Point`.
        public var geometryType: String
        /// The attributes that mean something to the job; features may have others.
        public var fields: [Field]
        /// The value of their member `role`, where other features have another; nil for none.
        public var role: String?
        /// The most features of a request.
        public var mostFeatures: Int
    }

    /// The product as features: a result of the geoprocessing service's task beside the file.
    public struct FeatureOutput: Hashable, Sendable, Codable {
        /// Its description, one sentence.
        public var summary: String
        /// Esri's type of their geometries, without its prefix; nil for rows without.
        public var geometryType: String?
        /// The attributes that the job adds.
        public var fields: [Field]
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
    /// Features that are given in place of the input file, all of them or none; empty for none.
    public var features: [FeatureInput] = []
    /// The product as features; nil for none.
    public var featureOutput: FeatureOutput?

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
