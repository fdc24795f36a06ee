// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Platform

/// How line layers are read as roads.
public struct LineOptions: Hashable, Sendable {
    /// The columns by content.
    public var columns: Columns
    /// Whether lines are joined at every vertex that they share, or at their ends alone.
    public var connectsAtVertices = false
    /// Metres within which ends are the same place; 0 for equal coordinates.
    public var tolerance = 0.0
    /// Kilometres per hour of one unit of the column of speeds: 1, or 1.609344 for miles.
    public var speedUnit = 1.0
    /// The class of lines without one that the profiles know.
    public var usualClass = "residential"

    /// The usual options.
    public init() throws(Failure) {
        columns = try Columns.usual()
    }

    /// The names of columns by content; the first of a list that a layer has is read, letter case
    /// apart.
    public struct Columns: Hashable, Sendable {
        /// What a column holds.
        public enum Content: String, Hashable, Sendable, CaseIterable {
            /// The class of the road.
            case roadClass
            /// The speed.
            case speed
            /// The direction: `FT`, `yes`, `1` along the line; `TF`, `-1` against it; `B`, `no`,
            /// `0` both; `N`, beside `FT` or `TF` in the column, neither.
            case oneway
            /// The name.
            case name
            /// The number.
            case ref
            /// The level of the first vertex: ends on different levels are not joined.
            case fromLevel
            /// The level of the last vertex.
            case toLevel
        }

        /// The names for each content.
        public var names: [Content: [String]] = [:]
        /// The class of the profiles for each class of the column.
        public var classes: [String: String] = [:]
        /// The contents whose names a file states: one layer at least must have such a column.
        public private(set) var stated: Set<Content> = []

        /// Reads a file of columns.
        ///
        /// It is an object with a name or a list of names for each content, and `classes`, an
        /// object; what it does not have is as usual. Throws `invalidParameter` with the source and
        /// the member.
        public init(json: [UInt8], source: String) throws(Failure) {
            self = try Self.usual()
            try take(json, source)
        }

        private init() {}

        static func usual() throws(Failure) -> Columns {
            var columns = Columns()
            try columns.take(PackageResources.line_columns_json, "line-columns.json")
            columns.stated = []
            return columns
        }

        private mutating func take(_ json: [UInt8], _ source: String) throws(Failure) {
            func failure(_ what: String) -> Failure {
                Failure(.invalidParameter, "columns '\(source)': \(what)")
            }
            guard case .object(let members)? = JSONTree(json) else {
                throw failure("expected JSON with names of columns")
            }
            for (name, value) in members where name != "comment" {
                if name == "classes" {
                    for (own, mapped) in value.members {
                        guard let text = mapped.text else {
                            throw failure("'classes.\(own)': expected a text")
                        }
                        classes[own] = text
                    }
                    guard case .object = value else {
                        throw failure("'classes': expected an object")
                    }
                    continue
                }
                guard let content = Content(rawValue: name) else {
                    throw failure(
                        "'\(name)' is no member; expected "
                            + Content.allCases.map(\.rawValue).joined(separator: ", ")
                            + " or classes")
                }
                let texts = value.text.map { [$0] } ?? value.elements.compactMap(\.text)
                guard value.text != nil || texts.count == value.elements.count, !texts.isEmpty
                else { throw failure("'\(name)': expected a name or a list of names") }
                names[content] = texts
                stated.insert(content)
            }
        }
    }

    /// Throws `invalidParameter` for a value out of range.
    func check() throws(Failure) {
        guard 0...1000 ~= tolerance, 0.1...10 ~= speedUnit else {
            throw Failure(
                .invalidParameter,
                "tolerance \(tolerance) m, unit of speed \(speedUnit): expected 0 to 1000 m and "
                    + "0.1 to 10 km/h")
        }
    }
}
