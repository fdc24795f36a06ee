// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A request for the legends of a map's rasters and layers on other servers.
public struct LegendRequest: PastRequest, Hashable, Sendable, Codable {
    /// The map.
    public var map: MapName
    /// The sequence number as of which the map is read; nil for now.
    public var at: Int64?
    /// The moment as of which the map is read; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, excludes layers removed or hidden by this sequence number; nil for
    /// none.
    public var seenFrom: Int64?
    /// Least sequence number the answer must include.
    public var minSequence: Int64?

    /// A request for the map as it is now.
    public init(map: MapName) { self.map = map }
}

/// A picture of a legend that another server has drawn, or a worker of a raster's colours.
public struct LegendEntry: Hashable, Sendable, Codable {
    /// The most entries of a layer.
    public static let countBound = 200
    /// Columns and rows of a picture that is drawn here.
    public static let symbolSide = 20
    /// The most bytes of a picture.
    public static let byteBound = 64 << 10

    /// The label; may be empty.
    public var label: String
    /// The picture, a PNG.
    public var picture: Data
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Nil for anything but a PNG within the bound of an entry.
    public init?(label: String, png picture: [UInt8]) {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        guard picture.count >= 33, picture.count <= Self.byteBound,
            picture.starts(with: signature)
        else { return nil }
        // RFC 2083, section 4.1.1: the first chunk begins with both sizes.
        func number(_ start: Int) -> Int {
            picture[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        self.label = label
        self.picture = Data(picture)
        width = number(16)
        height = number(20)
    }
}

/// The legends of a map's layers on other servers, and of its rasters.
public struct LayerLegends: Hashable, Sendable, Codable {
    /// The most bytes of all pictures; layers beyond have none, and are named.
    public static let byteBound = 4 << 20

    /// By layer; layers of templates of tiles have none, and those that failed have none.
    public var entries: [LayerID: [LegendEntry]]
    /// Layers whose server did not answer, or whose file cannot be read, and why.
    public var missing: [LayerFailure]

    /// States it.
    public init(entries: [LayerID: [LegendEntry]], missing: [LayerFailure]) {
        self.entries = entries
        self.missing = missing
    }
}

extension LayerSource {
    /// Whether the layer's legend comes from its server or its file, and so from a worker.
    public var hasAskedLegend: Bool {
        switch self {
        case .wms, .mapService, .raster: true
        case .tiles(let source): !source.isTemplate
        // Drawn with symbols that the map has.
        case .featureService, .dataset, .graphics: false
        }
    }
}
