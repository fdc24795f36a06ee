// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Geometry

extension MapName: WireValue {}
extension LayerSelection.Option: WireValue {}
extension TimeRelation: WireValue {}
extension TimeUnits: WireValue {}

extension IdentifyRequest: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(map)
        wire.put(geometry)
        wire.put(geometrySpatialReference)
        wire.put(layers)
        wire.put(tolerance)
        wire.put(mapExtent)
        wire.put(imageDisplay)
        wire.put(spatialReference)
        wire.put(returnGeometry)
        wire.put(maxAllowableOffset)
        wire.put(geometryPrecision)
        wire.put(layerDefinitions)
        wire.put(time)
        wire.put(timeRelation)
        wire.put(layerTimeOptions)
        wire.put(returnZ)
        wire.put(returnM)
        wire.put(returnFieldName)
        wire.put(returnUnformattedValues)
        wire.put(maximumResultsPerLayer)
        wire.put(returnPopupsOnly)
        wire.put(explain)
        wire.put(at)
        wire.put(atTime)
        wire.put(minSequence)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            map: try wire.get(),
            geometry: try wire.get(),
            geometrySpatialReference: try wire.get(),
            layers: try wire.get(),
            tolerance: try wire.get(),
            mapExtent: try wire.get(),
            imageDisplay: try wire.get(),
            spatialReference: try wire.get(),
            returnGeometry: try wire.get(),
            maxAllowableOffset: try wire.get(),
            geometryPrecision: try wire.get(),
            layerDefinitions: try wire.get(),
            time: try wire.get(),
            timeRelation: try wire.get(),
            layerTimeOptions: try wire.get(),
            returnZ: try wire.get(),
            returnM: try wire.get(),
            returnFieldName: try wire.get(),
            returnUnformattedValues: try wire.get(),
            maximumResultsPerLayer: try wire.get(),
            returnPopupsOnly: try wire.get(),
            explain: try wire.get(),
            at: try wire.get(),
            atTime: try wire.get(),
            minSequence: try wire.get())
    }
}

/// A request that sees a past from a sequence number on.
struct SeenIdentify: WireValue {
    var request: IdentifyRequest
    var seenFrom: Int64

    init(request: IdentifyRequest, seenFrom: Int64) {
        self.request = request
        self.seenFrom = seenFrom
    }

    func write(to wire: inout WireOutput) {
        wire.put(request)
        wire.put(seenFrom)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        request = try wire.get()
        seenFrom = try wire.get()
        request.seenFrom = seenFrom
    }
}

extension LayerSelection: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(option)
        wire.put(ids)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(try wire.get(), ids: try wire.get())
    }
}

extension ImageDisplay: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(width)
        wire.put(height)
        wire.put(dpi)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(width: try wire.get(), height: try wire.get(), dpi: try wire.get())
    }
}

extension TimeExtent: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(start)
        wire.put(end)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(from: try wire.get(), to: try wire.get())
    }
}

extension LayerTimeOptions: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(useTime)
        wire.put(timeDataCumulative)
        wire.put(timeOffset)
        wire.put(timeOffsetUnits)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            useTime: try wire.get(),
            timeDataCumulative: try wire.get(),
            timeOffset: try wire.get(),
            timeOffsetUnits: try wire.get())
    }
}

extension Timestamp: WireValue {
    func write(to wire: inout WireOutput) { wire.put(microseconds) }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(microseconds: try wire.get())
    }
}
