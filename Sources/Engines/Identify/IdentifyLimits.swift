// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// Limits of one identify request and its answer.
public enum IdentifyLimits {
    /// Results of one layer; the nearest are kept.
    public static let resultsPerLayer = IdentifyRequest.resultsPerLayerBound
    /// Coordinates of a query geometry.
    public static let queryCoordinates = 100_000
    /// Coordinates of all geometries of an answer; further results are left out and their layers
    /// marked `transferLimitExceeded`.
    public static let answerCoordinates = 1_000_000
    /// Layer ids in a request.
    public static let layerIDs = 10_000
    /// Length of the WKT of a spatial reference, in UTF-8 bytes.
    public static let wktBytes = 16_384
    /// Magnitude of an ordinate of a query geometry or extent.
    public static let ordinate = Coordinate.bound
}
