// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// An unknown coordinate system, or a coordinate that cannot be transformed.
public struct PROJError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Hashable, Sendable {
        /// Unknown number or unparsable definition.
        case unknownCoordinateSystem
        /// No transformation between the two systems.
        case noOperation
        /// The coordinate is outside the domain of the projection, or is not finite.
        case outsideDomain
    }

    /// Kind of error.
    public let code: Code
    /// One sentence.
    public let description: String
}
