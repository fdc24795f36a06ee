// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Writes a layer of a tile: the message `Layer` of the specification, section 4.1.
///
/// Features are in the layer's order, keys and values in the order in which the features that are
/// written first use them.
struct LayerEncoding {
    private var body = ProtobufWriter()
    private var feature = ProtobufWriter()
    private var packed = ProtobufWriter()
    private var keyNumbers = Numbering()
    private var valueNumbers = Numbering()

    /// Numbers given in the order of first use.
    private struct Numbering {
        private var numbers: [Int32] = []
        private(set) var used: [Int32] = []

        mutating func reset(count: Int) {
            for number in used where number < numbers.count { numbers[Int(number)] = -1 }
            used.removeAll(keepingCapacity: true)
            if numbers.count < count {
                numbers.append(contentsOf: repeatElement(-1, count: count - numbers.count))
            }
        }

        mutating func number(of item: Int32) -> UInt64 {
            if numbers[Int(item)] < 0 {
                numbers[Int(item)] = Int32(used.count)
                used.append(item)
            }
            return UInt64(numbers[Int(item)])
        }
    }

    /// The bytes of a layer as a field of the tile; none without features.
    mutating func bytes(
        of layer: VectorTileLayer, _ content: TileLayer, extent: Int, buffer: Int,
        where isKept: (Int) -> Bool = { _ in true }
    ) -> [UInt8] {
        keyNumbers.reset(count: layer.keys.count)
        valueNumbers.reset(count: layer.values.count)
        body.bytes.removeAll(keepingCapacity: true)
        body.field(15, 2)
        body.field(1, layer.name)
        let head = body.bytes.count
        for (index, feature) in content.features.enumerated() where isKept(index) {
            write(feature, of: layer, content.parts, buffer)
        }
        guard body.bytes.count > head else { return [] }
        for key in keyNumbers.used { body.field(3, bytes: layer.keys[Int(key)]) }
        for value in valueNumbers.used { body.field(4, bytes: layer.values[Int(value)]) }
        body.field(5, UInt64(extent))
        var result = ProtobufWriter()
        result.bytes.reserveCapacity(body.bytes.count + 8)
        result.field(3, bytes: body.bytes)
        return result.bytes
    }

    private mutating func write(
        _ content: TileLayer.Feature, of layer: VectorTileLayer, _ parts: TilePartStore,
        _ buffer: Int
    ) {
        let source = layer.features[content.number]
        feature.bytes.removeAll(keepingCapacity: true)
        if let id = source.id { feature.field(1, id) }
        if !source.tags.isEmpty {
            packed.bytes.removeAll(keepingCapacity: true)
            var isKey = true
            for tag in layer.tags[source.tags] {
                packed.varint(isKey ? keyNumbers.number(of: tag) : valueNumbers.number(of: tag))
                isKey.toggle()
            }
            feature.field(2, bytes: packed.bytes)
        }
        feature.field(3, content.kind.rawValue)
        packed.bytes.removeAll(keepingCapacity: true)
        // The first move is from the upper left corner of the tile, not of its buffered square.
        var cursor = (x: buffer, y: buffer)
        for part in content.parts {
            let range = parts.places(ofPart: part)
            let moves = content.kind == .point ? range.count : 1
            packed.varint(UInt64(moves << 3 | 1))
            for (number, place) in parts.places[range].enumerated() {
                if number == moves { packed.varint(UInt64((range.count - moves) << 3 | 2)) }
                packed.varint(ProtobufWriter.zigzag(Int64(place.x - cursor.x)))
                packed.varint(ProtobufWriter.zigzag(Int64(place.y - cursor.y)))
                cursor = (place.x, place.y)
            }
            if content.kind == .polygon { packed.varint(1 << 3 | 7) }
        }
        feature.field(4, bytes: packed.bytes)
        body.field(2, bytes: feature.bytes)
    }
}
