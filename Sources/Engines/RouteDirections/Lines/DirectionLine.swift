// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// One line of written directions, as Esri's directions have them.
public struct DirectionLine: Hashable, Sendable {
    /// Texts that occur in a line, for emphasis.
    public struct Piece: Hashable, Sendable {
        /// The type in Esri's directions.
        public enum Kind: String, Hashable, Sendable {
            case street = "esriDSTStreetName"
            case crossStreet = "esriDSTCrossStreet"
            case toward = "esriDSTToward"
            case exit = "esriDSTExit"
        }

        /// The text, as the data has it.
        public var text: String
        /// What it is.
        public var kind: Kind
    }

    /// The instruction.
    public var text: String
    /// The type of the maneuver.
    public var type: EsriManeuver
    /// The leg, from 0.
    public var leg: Int
    /// The length of the stretch after the maneuver: millimetres.
    public var length: Int64
    /// The duration of the stretch after the maneuver: milliseconds.
    public var duration: Int64
    /// The stretch's positions in the shape of the directions.
    public var points: Range<Int>
    /// Names in the text.
    public var pieces: [Piece]
    /// The maneuvers that it is of: their places in the directions.
    public var maneuvers: Range<Int>
}

/// Directions in a language.
public struct WrittenDirections: Hashable, Sendable {
    /// The code of the language they are in, English where the one asked for is unknown.
    public let languageUsed: String
    /// Leg after leg; lengths and durations add up to those of the directions.
    public let lines: [DirectionLine]
}
