// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

// The canonical form of maps and locators for hashes and comparisons. A new field of a form is
// omitted at its initial value, so that the hashes of older logs do not change; any other change
// requires a new `StateHash.form`.
extension MapsState {
    /// The hash of every map, every locator's name and the outcomes of the last commands.
    public func hash() throws(Failure) -> StateHash {
        StateHash(try parts(), sequence: sequence)
    }

    /// Every map as `map/<name>`, every locator as `locator/<name>`, and the outcomes of the last
    /// commands as `commands`, once there are any.
    public func parts() throws(Failure) -> [StatePart] {
        var parts: [StatePart] = []
        for name in allMapNames {
            if let part = try part(of: name) { parts.append(part) }
        }
        parts += try locatorParts()
        let outcomes = rememberedOutcomes
        if let last = outcomes.last {
            parts.append(
                try StatePart(
                    name: "commands", sequence: last.result.sequence,
                    outcomes.map(OutcomeForm.init)))
        }
        return parts
    }

    /// One map in its canonical form; nil when it does not exist.
    public func part(of name: MapName) throws(Failure) -> StatePart? {
        guard let model = models[name] else { return nil }
        return try StatePart(
            name: "map/\(name)", sequence: model.lastChange, MapForm(model))
    }
}

private struct OutcomeForm: Encodable {
    var command: UUID
    var sequence: Int64
    var layer: LayerID?
    var graphic: Int64?

    init(_ outcome: (command: UUID, result: MapCommandResult)) {
        command = outcome.command
        sequence = outcome.result.sequence
        layer = outcome.result.layer
        graphic = outcome.result.graphic
    }
}

/// Everything of a map that can be read, or that affects later decisions.
private struct MapForm: Encodable {
    var name: MapName
    var streamPosition: Int64
    var lastChange: Int64
    var nextLayer: LayerID
    var rootLayers: [LayerID]
    /// By number, as text: JSON sorts keys, not list elements.
    var layers: [String: LayerDescription]
    var nextGraphic: [String: Int64]
    var isDeleted: Bool?
    var properties: MapProperties?

    init(_ model: MapModel) {
        name = model.name
        streamPosition = model.streamPosition
        lastChange = model.lastChange
        nextLayer = model.nextLayerID
        isDeleted = model.isDeleted ? true : nil
        properties = model.properties == MapProperties() ? nil : model.properties
        rootLayers = model.rootLayers
        layers = Dictionary(
            uniqueKeysWithValues: model.layers.map { ("\($0.key)", $0.value) })
        nextGraphic = Dictionary(
            uniqueKeysWithValues: model.nextGraphicIDs.map { ("\($0.key)", $0.value) })
    }
}
