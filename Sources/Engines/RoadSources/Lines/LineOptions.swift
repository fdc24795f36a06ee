// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

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
        columns = try Columns(json: PackageResources.line_columns_json, source: "line-columns.json")
    }

    /// The names of columns by content; the first of a list that a layer has is read, letter case
    /// apart.
    public struct Columns: Hashable, Sendable, Codable {
        /// The class of the road.
        public var roadClass: [String]
        /// The speed.
        public var speed: [String]
        /// The direction: `FT`, `yes`, `1` along the line; `TF`, `-1` against it; `B`, `no`, `0`
        /// both; `N`, beside `FT` or `TF` in the column, neither.
        public var oneway: [String]
        /// The name.
        public var name: [String]
        /// The number.
        public var ref: [String]
        /// The level of the first vertex: ends on different levels are not joined.
        public var fromLevel: [String]
        /// The level of the last vertex.
        public var toLevel: [String]
        /// The class of the profiles for each class of the column.
        public var classes: [String: String]

        /// Reads a file of columns; throws `invalidParameter` with the source and the member.
        public init(json: [UInt8], source: String) throws(Failure) {
            do {
                self = try JSONDecoder().decode(Columns.self, from: Data(json))
            } catch DecodingError.keyNotFound(let key, _) {
                throw Failure(
                    .invalidParameter,
                    "columns '\(source)': '\(key.stringValue)' is missing; expected a list")
            } catch DecodingError.typeMismatch(_, let context) {
                let member = context.codingPath.map(\.stringValue).joined(separator: ".")
                throw Failure(
                    .invalidParameter, "columns '\(source)': '\(member)' has not the right form")
            } catch {
                throw Failure(
                    .invalidParameter, "columns '\(source)': expected JSON with lists of names")
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
