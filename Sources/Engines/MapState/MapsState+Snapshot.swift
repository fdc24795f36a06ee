// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

extension MapsState: Snapshotted {
    /// `maps`.
    public static var snapshotName: String { "maps" }
    /// See `Snapshotted`.
    public static var snapshotForm: Int { 2 }
    /// Sequence number of the last folded event.
    public var foldedThrough: Int64 { sequence }
    /// Maps, each with its layers, and locators.
    public var pieceCount: Int {
        models.values.reduce(models.count + locatorNames.count) { $0 + $1.layers.count }
    }

    /// One text for each map and locator, and one for the rest.
    public func pieces() throws(Failure) -> [Data] {
        var pieces = [try CairnJSON.encode(rest)]
        for name in allMapNames {
            guard let model = models[name] else { continue }
            pieces.append(try CairnJSON.encode(Piece.map(MapModel.Form(model))))
        }
        for locator in publishedLocators {
            pieces.append(try CairnJSON.encode(Piece.locator(locator)))
        }
        return pieces
    }

    /// Restores the state from its pieces; throws `Failure` for malformed ones.
    public init(pieces: [Data]) throws(Failure) {
        self.init()
        for data in pieces {
            switch try CairnJSON.decode(Piece.self, from: data) {
            case .rest(let sequence, let lastEvent, let outcomes):
                restore(sequence: sequence, lastEvent: lastEvent, outcomes)
            case .map(let form): restore(try MapModel(form))
            case .locator(let locator): restore(locator)
            }
        }
    }

    private var rest: Piece {
        .rest(
            sequence: sequence, lastEvent: lastEvent,
            outcomes: rememberedOutcomes.map(Outcome.init))
    }

    private enum Piece: Codable {
        case rest(sequence: Int64, lastEvent: Int64, outcomes: [Outcome])
        case map(MapModel.Form)
        case locator(PublishedLocator)
    }

    /// The outcome of a command.
    struct Outcome: Codable {
        var command: UUID
        var result: MapCommandResult
    }
}

extension MapModel {
    /// The form of a map, its layers as a list: lookups in a long JSON object are slow.
    struct Form: Codable {
        var name: MapName
        var streamPosition: Int64
        var lastChange: Int64
        var nextLayerID: LayerID
        var rootLayers: [LayerID]
        var layers: [LayerDescription]
        var nextGraphicIDs: [OfLayer<Int64>]
        var loadCauses: [OfLayer<EventCause>]
        var sourceChanges: [OfLayer<Int64>]
        var isDeleted: Bool?
        var properties: MapProperties?

        struct OfLayer<Value: Codable>: Codable {
            var layer: LayerID
            var value: Value
        }

        init(_ model: MapModel) {
            name = model.name
            streamPosition = model.streamPosition
            lastChange = model.lastChange
            nextLayerID = model.nextLayerID
            isDeleted = model.isDeleted ? true : nil
            properties = model.properties == MapProperties() ? nil : model.properties
            rootLayers = model.rootLayers
            layers = Array(model.layers.values)
            nextGraphicIDs = Self.list(model.nextGraphicIDs)
            loadCauses = Self.list(model.loadCauses)
            sourceChanges = Self.list(model.sourceChanges)
        }

        private static func list<Value>(_ values: [LayerID: Value]) -> [OfLayer<Value>] {
            values.map { OfLayer(layer: $0.key, value: $0.value) }
        }
    }

    /// Restores the map; throws `corrupt` for a malformed form.
    init(_ form: Form) throws(Failure) {
        let layers = Dictionary(
            form.layers.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let names = Dictionary(
            form.layers.map { (Self.folded($0.name), $0.id) },
            uniquingKeysWith: { first, _ in first })
        guard layers.count == form.layers.count, names.count == form.layers.count else {
            throw Failure(.corrupt, "map '\(form.name)' has two layers of one number or name")
        }
        self.init(
            form, layers: layers, idsByName: names,
            nextGraphicIDs: Self.table(form.nextGraphicIDs),
            loadCauses: Self.table(form.loadCauses),
            sourceChanges: Self.table(form.sourceChanges))
    }

    private static func table<Value>(_ list: [Form.OfLayer<Value>]) -> [LayerID: Value] {
        Dictionary(list.map { ($0.layer, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
