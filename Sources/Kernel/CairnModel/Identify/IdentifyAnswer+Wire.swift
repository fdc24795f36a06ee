// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry

extension GeometryType: WireValue {}

extension IdentifyExplanation: JSONWireValue { static var wireName: String { "an explanation" } }
extension LayerFailure: JSONWireValue { static var wireName: String { "a layer's failure" } }

extension IdentifyAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(layers)
        wire.put(spatialReference)
        wire.put(sequence)
        wire.put(isStale)
        wire.put(explanation)
        wire.put(failures)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            layers: try wire.get(),
            spatialReference: try wire.get(),
            sequence: try wire.get(),
            isStale: try wire.get(),
            explanation: try wire.get(),
            failures: try wire.get())
    }
}

extension IdentifyLayerResult: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(layerID)
        wire.put(layerName)
        wire.put(results)
        wire.put(sublayerResults)
        wire.put(transferLimitExceeded)
        wire.put(hitCount)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self = try wire.descend { wire throws(WireFault) in
            IdentifyLayerResult(
                layerID: try wire.get(),
                layerName: try wire.get(),
                results: try wire.get(),
                sublayerResults: try wire.get(),
                transferLimitExceeded: try wire.get(),
                hitCount: try wire.get(Int.self))
        }
    }
}

extension IdentifyResult: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(layerID)
        wire.put(layerName)
        wire.put(objectID)
        wire.put(displayFieldName)
        wire.put(value)
        wire.put(attributes)
        wire.put(geometryType)
        wire.put(geometry)
        wire.put(zValues)
        wire.put(mValues)
        wire.put(distance)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            layerID: try wire.get(),
            layerName: try wire.get(),
            objectID: try wire.get(),
            displayFieldName: try wire.get(),
            value: try wire.get(),
            attributes: try wire.get(),
            geometryType: try wire.get(),
            geometry: try wire.get(),
            zValues: try wire.get(),
            mValues: try wire.get(),
            distance: try wire.get())
    }
}

extension AttributeValue: WireValue {
    func write(to wire: inout WireOutput) {
        switch self {
        case .null: wire.put(UInt8(0))
        case .integer(let integer):
            wire.put(UInt8(1))
            wire.put(integer)
        case .real(let real):
            wire.put(UInt8(2))
            wire.put(real)
        case .string(let text):
            wire.put(UInt8(3))
            wire.put(text)
        case .date(let milliseconds):
            wire.put(UInt8(4))
            wire.put(milliseconds)
        }
    }

    init(from wire: inout WireInput) throws(WireFault) {
        switch try wire.get(UInt8.self) {
        case 0: self = .null
        case 1: self = .integer(try wire.get())
        case 2: self = .real(try wire.get())
        case 3: self = .string(try wire.get())
        case 4: self = .date(try wire.get())
        default: throw .meaningless("a kind of attribute value")
        }
    }
}

/// Values in field order, preceded by their names only where these differ from those of the feature
/// before.
extension Attributes: WireValue {
    func write(to wire: inout WireOutput) {
        let isSame =
            entries.count == wire.names.count
            && zip(entries, wire.names).allSatisfy { $0.name == $1 }
        wire.put(isSame)
        if !isSame {
            wire.names = entries.map(\.name)
            wire.put(wire.names)
        }
        for entry in entries { wire.put(entry.value) }
    }

    init(from wire: inout WireInput) throws(WireFault) {
        if !(try wire.get(Bool.self)) { wire.names = try wire.get() }
        let names = wire.names
        var entries: [Entry] = []
        entries.reserveCapacity(names.count)
        for name in names { entries.append(Entry(name: name, value: try wire.get())) }
        self.init(entries)
    }
}
