// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

struct MapAddGraphics: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "add-graphics", abstract: "Add an empty layer to draw on.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var place: PlaceOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer's name.") var name: String
    @Option(help: "The spatial reference of the graphics; by default the map's.") var sr: Int?

    func command(on map: MapDescription) throws -> MapCommand {
        guard let reference = sr.map({ SpatialReference(wkid: $0) }) ?? map.spatialReference else {
            throw UsageFailure("map '\(map.name)' has no spatial reference yet: give one with --sr")
        }
        return .addLayer(
            name: name, source: .graphics(GraphicsSource(spatialReference: reference)),
            place: try place.place(on: map))
    }
}

struct MapDraw: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "draw", abstract: "Draw a shape on a graphics layer.",
        discussion: """
            The geometry is WKT, Esri JSON, 'x,y' or 'xmin,ymin,xmax,ymax' in the layer's spatial \
            reference, or GeoJSON in WGS 84.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The graphics layer.", completion: .layers) var layer: String
    @Argument(help: "The geometry.") var geometry: String
    @OptionGroup var look: GraphicOptions

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer)
        return .addGraphic(
            layer: layer.id, shape: try Drawing.shape(geometry, on: layer),
            attributes: try look.attributes() ?? Attributes([]), zIndex: look.z ?? 0)
    }
}

struct MapRedraw: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "redraw", abstract: "Change a graphic: what is not given stays.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The graphics layer.", completion: .layers) var layer: String
    @Argument(help: "The graphic's number.") var graphic: Int64
    @Option(help: "Its new geometry, as 'draw' takes it.") var geometry: String?
    @OptionGroup var look: GraphicOptions

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer)
        return .updateGraphic(
            layer: layer.id, graphic: graphic,
            shape: try geometry.map { try Drawing.shape($0, on: layer) },
            attributes: try look.attributes(), zIndex: look.z)
    }
}

struct MapErase: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Remove a graphic, or all of a layer.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The graphics layer.", completion: .layers) var layer: String
    @Argument(help: "The graphic's number.") var graphic: Int64?
    @Flag(help: "Remove every graphic of the layer.") var all = false

    func validate() throws {
        guard (graphic == nil) == all else {
            throw ValidationError("Give the number of a graphic, or --all.")
        }
    }

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer).id
        return graphic.map { .removeGraphic(layer: layer, graphic: $0) }
            ?? .clearGraphics(layer: layer)
    }
}

/// Attributes of a graphic besides its shape.
struct GraphicOptions: ParsableArguments {
    @Option(
        name: .customLong("attribute"),
        help: "NAME=VALUE, may be repeated; a numeric value becomes a number.")
    var pairs: [String] = []
    @Option(help: "Its position in the layer's drawing order; higher is above.") var z: Int?

    /// The attributes; nil without any.
    func attributes() throws -> Attributes? {
        if pairs.isEmpty { return nil }
        return Attributes(
            try pairs.map { pair in
                guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                    throw UsageFailure("--attribute '\(pair.prefix(80))': expected NAME=VALUE")
                }
                let text = String(pair[pair.index(after: equals)...])
                let value: AttributeValue =
                    Int64(text).map { .integer($0) }
                    ?? Double(text).flatMap { $0.isFinite ? .real($0) : nil } ?? .string(text)
                return Attributes.Entry(name: String(pair[..<equals]), value: value)
            })
    }
}

/// Converts geometries for a graphics layer.
enum Drawing {
    /// The geometry in the layer's spatial reference.
    static func shape(_ text: String, on layer: LayerDescription) throws -> Shape {
        let parsed = try GeometryText.parse(text)
        guard case .layer(.graphics(let source)) = layer.kind else { return parsed.shape }
        var shape = parsed.shape
        if let own = parsed.spatialReference, !own.isEquivalent(to: source.spatialReference) {
            shape = try CoordinateTransform(from: own, to: source.spatialReference).forward(shape)
        }
        try ReferenceDomain(of: source.spatialReference)?.check(
            shape, orIn: layer.properties?.extent)
        return shape
    }
}
