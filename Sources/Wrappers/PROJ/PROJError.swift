// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Why a coordinate system is not understood or a coordinate cannot be transformed.
public struct PROJError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of error it is.
    public enum Code: Hashable, Sendable {
        /// PROJ does not know the number or cannot parse the definition.
        case unknownCoordinateSystem
        /// There is no way from one system to the other.
        case noOperation
        /// The coordinate lies outside what the projection can express, or is not finite.
        case outsideDomain
    }

    /// What kind of error it is.
    public let code: Code
    /// One sentence.
    public let description: String
}
