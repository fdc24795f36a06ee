// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// What bounds one identify request and its answer.
public enum IdentifyLimits {
    /// The most results of one layer; the nearest are kept.
    public static let resultsPerLayer = IdentifyRequest.resultsPerLayerBound
    /// The most coordinates of a query geometry.
    public static let queryCoordinates = 100_000
    /// The most coordinates of all geometries of an answer; results beyond it are left out and
    /// their layers marked `transferLimitExceeded`.
    public static let answerCoordinates = 1_000_000
    /// The most layer ids a request may name.
    public static let layerIDs = 10_000
    /// The longest WKT of a spatial reference, in bytes of UTF-8.
    public static let wktBytes = 16_384
    /// The greatest magnitude of an ordinate of a query geometry or extent.
    public static let ordinate = Coordinate.bound
}
