// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

extension Coordinate: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(x)
        wire.put(y)
    }
    init(from wire: inout WireInput) throws(WireFault) {
        self.init(x: try wire.get(), y: try wire.get())
    }
}

extension Envelope: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(minX)
        wire.put(minY)
        wire.put(maxX)
        wire.put(maxY)
    }
    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            minX: try wire.get(), minY: try wire.get(), maxX: try wire.get(), maxY: try wire.get())
    }
}

extension Shape: WireValue {
    func write(to wire: inout WireOutput) {
        switch self {
        case .point(let coordinate):
            wire.put(UInt8(0))
            wire.put(coordinate)
        case .multipoint(let coordinates):
            wire.put(UInt8(1))
            wire.put(coordinates)
        case .polyline(let paths):
            wire.put(UInt8(2))
            wire.put(paths)
        case .polygon(let rings):
            wire.put(UInt8(3))
            wire.put(rings)
        case .envelope(let envelope):
            wire.put(UInt8(4))
            wire.put(envelope)
        }
    }
    init(from wire: inout WireInput) throws(WireFault) {
        switch try wire.get(UInt8.self) {
        case 0: self = .point(try wire.get())
        case 1: self = .multipoint(try wire.get())
        case 2: self = .polyline(paths: try wire.get())
        case 3: self = .polygon(rings: try wire.get())
        case 4: self = .envelope(try wire.get())
        default: throw .meaningless("a kind of geometry")
        }
    }
}

extension SpatialReference: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(wkid)
        wire.put(wkt)
    }
    init(from wire: inout WireInput) throws(WireFault) {
        self.init(wkid: 0)
        wkid = try wire.get()
        wkt = try wire.get()
    }
}
