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
        /// Milliseconds since 1970, or ISO 8601.
        case date
        /// A distance with its unit in JSON, `{"distance":10,"units":"esriMeters"}`.
        case distance
        /// Texts with commas, or in JSON.
        case list
        /// A feature set in Esri JSON without geometries.
        case rows
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
        /// Whether it may not be left out where another one is given.
        public var isRequired = true
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

    /// A result of a kind whose product has several.
    public struct Result: Hashable, Sendable, Codable {
        /// The type of a result.
        public enum Form: Hashable, Sendable, Codable {
            /// A feature set in Esri JSON: Esri's type of the geometries without its prefix.
            case features(String)
            /// `true` or `false`.
            case flag
            /// Text, or JSON.
            case text
            /// A file; null where there is none.
            case file
        }

        /// Its name.
        public var name: String
        /// Its description, one sentence.
        public var summary: String
        /// Its type.
        public var form: Form
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
    /// The results that the product, one object in JSON, has as its members, each on a line of its
    /// own; empty for a product that is one result.
    public var results: [Result] = []
    /// The names of inputs in the order in which they are published; empty for features first, then
    /// parameters.
    public var inputOrder: [String] = []

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

    static func flag(_ name: String, _ summary: String, _ value: Bool = false) -> Self {
        plain(name, .flag, summary, "\(value)")
    }

    /// A parameter of a type that is written as text.
    static func other(
        _ name: String, _ type: JobKindDescription.ParameterType, _ summary: String,
        _ value: String? = nil
    ) -> Self { plain(name, type, summary, value) }

    private static func plain(
        _ name: String, _ type: JobKindDescription.ParameterType, _ summary: String,
        _ value: String?
    ) -> Self {
        Self(
            name: name, type: type, summary: summary, isRequired: false, defaultValue: value,
            choices: [])
    }
}
