// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The properties of a raster layer beside its extent.
public struct RasterProperties: Hashable, Sendable, Codable {
    /// A band of a raster.
    public struct Band: Hashable, Sendable, Codable {
        /// GDAL's name of the type of its values, `Byte`, `Float32`.
        public var type: String
        /// The band's name in the file, if any.
        public var name: String?

        /// Describes a band.
        public init(type: String, name: String? = nil) {
            self.type = type
            self.name = name
        }
    }

    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int
    /// The bands, in order.
    public var bands: [Band]

    /// Describes a raster.
    public init(width: Int, height: Int, bands: [Band]) {
        self.width = width
        self.height = height
        self.bands = bands
    }
}

/// One line of the legend of a raster's pictures.
public struct RasterLegendRow: Hashable, Sendable {
    /// A class, a value, or the colour channel of a band; empty between the ends of a ramp.
    public var label: String
    /// From the top down: one colour, or the steps of a ramp.
    public var colors: [LayerSymbol.Color]

    /// States it.
    public init(label: String, colors: [LayerSymbol.Color]) {
        self.label = label
        self.colors = colors
    }
}
