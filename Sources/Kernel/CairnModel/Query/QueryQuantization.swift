// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The grid to which the coordinates of an answer are snapped, Esri's `quantizationParameters`.
public struct QueryQuantization: Hashable, Sendable, Codable {
    /// The corner of the extent from which cells are counted; raw values are Esri's.
    public enum Origin: String, Hashable, Sendable, Codable, CaseIterable {
        /// Rows are counted downwards.
        case upperLeft
        /// Rows are counted upwards.
        case lowerLeft
    }

    /// Corner of the grid's origin.
    public var origin = Origin.upperLeft
    /// The side of a cell, in units of the output; nil: ``QueryRequest/maxAllowableOffset``, else a
    /// ten-thousandth of the longer side of the extent.
    public var tolerance: Double?
    /// The client's extent, in `spatialReference`; nil for the extent of the layer.
    ///
    /// It does not filter.
    public var extent: Envelope?
    /// The extent's; nil: that of the output, from which it may not differ.
    public var spatialReference: SpatialReference?

    /// A grid from the upper left corner of the layer.
    public init() {}
}
