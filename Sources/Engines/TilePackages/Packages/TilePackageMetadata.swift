// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// What a package tells of its tiles.
///
/// Every format keeps all of it, and gives it back as it was.
public struct TilePackageMetadata: Hashable, Sendable {
    /// Name, for people.
    public var name: String
    /// Further sentences; often empty.
    public var description = ""
    /// The owner of the data, as maps show it; often empty.
    public var attribution = ""
    /// The encoding of all tiles.
    public var encoding: TileEncoding
    /// The quality of JPEG, 1 to 100; nil where it is unknown, and of other encodings.
    public var quality: Int?
    /// Levels of the tiles; some may have none.
    public var levels: ClosedRange<Int>
    /// Bounds of the content in EPSG:3857, x east, y north.
    public var extent: Envelope
    /// Side of a tile in pixels.
    public var tileSide: Int
    /// Layers of vector tiles, in drawing order; empty for pictures.
    public var vectorLayers: [VectorTileLayer] = []
    /// A MapLibre style (JSON) for vector tiles; nil without one.
    public var style: String?
    /// When the package's content was asked for; never the time of writing.
    public var created = Timestamp(microseconds: 0)
    /// What the package was made from, in order: map, sequence number, datasets, parameters.
    public var provenance: [ProvenanceEntry] = []

    /// Metadata of a package; `extent` nil is the whole world, `tileSide` nil 256 pixels for
    /// pictures and 512 for vector tiles.
    public init(
        name: String, encoding: TileEncoding, levels: ClosedRange<Int>, extent: Envelope? = nil,
        tileSide: Int? = nil
    ) {
        self.name = name
        self.encoding = encoding
        self.levels = levels
        self.extent = extent ?? Self.world
        self.tileSide = tileSide ?? (encoding == .mvt ? 512 : 256)
    }

    /// The square of web maps in EPSG:3857.
    public static let world = Envelope(
        minX: -TileAddress.halfWorldMeters, minY: -TileAddress.halfWorldMeters,
        maxX: TileAddress.halfWorldMeters, maxY: TileAddress.halfWorldMeters)

    /// Bounds in degrees of WGS 84, x longitude, rounded to 7 decimals, so that they are the same
    /// with every mathematical library.
    public var degrees: Envelope {
        let low = WebMercator.unproject(Coordinate(x: extent.minX, y: extent.minY))
        let high = WebMercator.unproject(Coordinate(x: extent.maxX, y: extent.maxY))
        func rounded(_ value: Double) -> Double { (value * 1e7).rounded() / 1e7 }
        return Envelope(
            minX: rounded(low.x), minY: rounded(low.y), maxX: rounded(high.x),
            maxY: rounded(high.y))
    }

    /// The same with other bounds, in degrees of WGS 84, cut to the world.
    func withDegrees(_ degrees: Envelope) -> TilePackageMetadata {
        let low = WebMercator.project(Coordinate(x: degrees.minX, y: degrees.minY))
        let high = WebMercator.project(Coordinate(x: degrees.maxX, y: degrees.maxY))
        var copy = self
        copy.extent = Envelope(
            minX: max(low.x, Self.world.minX), minY: max(low.y, Self.world.minY),
            maxX: min(high.x, Self.world.maxX), maxY: min(high.y, Self.world.maxY))
        if copy.extent.isEmpty || !copy.extent.isFinite { copy.extent = Self.world }
        return copy
    }

    /// Throws `invalidParameter` for metadata that a format cannot keep.
    func check(for format: TilePackageFormat) throws(Failure) {
        guard format.encodings.contains(encoding) else {
            let names = format.encodings.map(\.rawValue).joined(separator: ", ")
            throw Failure(
                .invalidParameter,
                "\(format.rawValue) does not hold \(encoding.rawValue) tiles: expected \(names)")
        }
        guard TileAddress.levels.contains(levels.lowerBound),
            TileAddress.levels.contains(levels.upperBound)
        else {
            throw Failure(
                .invalidParameter,
                "levels \(levels.lowerBound) to \(levels.upperBound): expected "
                    + "\(TileAddress.levels.lowerBound) to \(TileAddress.levels.upperBound)")
        }
        guard extent.isFinite, !extent.isEmpty else {
            throw Failure(.invalidParameter, "the extent of a tile package is empty")
        }
        guard 1...4_096 ~= tileSide else {
            throw Failure(.invalidParameter, "tile side \(tileSide): expected 1 to 4096 pixels")
        }
    }
}

/// One layer of vector tiles.
public struct VectorTileLayer: Hashable, Sendable {
    /// Its name within the tiles.
    public var id: String
    /// For people; often empty.
    public var description: String
    /// Its attributes in order.
    public var fields: [Field]
    /// Levels that it is in.
    public var levels: ClosedRange<Int>

    /// One attribute.
    public struct Field: Hashable, Sendable {
        /// Its key.
        public var name: String
        /// `String`, `Number` or `Boolean`.
        public var type: String

        /// An attribute.
        public init(name: String, type: String) {
            self.name = name
            self.type = type
        }
    }

    /// A layer.
    public init(
        id: String, description: String = "", fields: [Field], levels: ClosedRange<Int>
    ) {
        self.id = id
        self.description = description
        self.fields = fields
        self.levels = levels
    }
}

/// One statement of a package's origin.
public struct ProvenanceEntry: Hashable, Sendable {
    /// What is stated: `map`, `sequence`, `dataset`; may come again.
    public var name: String
    /// Its value.
    public var value: String

    /// A statement.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
