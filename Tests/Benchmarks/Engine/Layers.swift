// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import GDAL
import Geometry
import TestKit

/// Layers that are made here from a seed, as FlatGeobuf files.
enum SyntheticLayers {
    /// 250 star-shaped polygons with 40 to 70,001 corners.
    static func large(_ path: String) throws {
        var random = SeededGenerator(seed: 250)
        try write(path, "large", count: 250) { number in
            let corners = number % 25 == 0 ? 70_000 : 40 + Int(pow(10.0, Double(number % 5)))
            let middle = Coordinate(
                x: .random(in: -170...170, using: &random),
                y: .random(in: -70...70, using: &random))
            let reach = Double.random(in: 2...20, using: &random)
            var wobble = 1.0
            return (0..<corners).map { index in
                let angle = 2 * Double.pi * Double(index) / Double(corners)
                wobble = min(1, max(0.4, wobble + .random(in: -0.01...0.01, using: &random)))
                return Coordinate(
                    x: middle.x + reach * wobble * cos(angle),
                    y: middle.y + reach * wobble * sin(angle))
            }
        }
    }

    /// Footprints of four to eight corners on a jittered grid, about as dense as a town.
    static func footprints(_ path: String, count: Int) throws {
        var random = SeededGenerator(seed: 1_000_000)
        let side = Int(Double(count).squareRoot().rounded(.up))
        let cell = 0.0003
        try write(path, "footprints", count: count) { number in
            let x = 2 + cell * (Double(number % side) + .random(in: 0...0.3, using: &random))
            let y = 48 + cell * (Double(number / side) + .random(in: 0...0.3, using: &random))
            let (w, h) = (
                cell * .random(in: 0.2...0.6, using: &random),
                cell * .random(in: 0.2...0.6, using: &random)
            )
            let turn = Double.random(in: -0.4...0.4, using: &random)
            let corners: [(Double, Double)] =
                number % 2 == 0
                ? [(0, 0), (w, 0), (w, h), (0, h)]
                : [(0, 0), (w, 0), (w, h / 2), (w / 2, h / 2), (w / 2, h), (0, h)]
            return corners.map {
                Coordinate(
                    x: x + $0.0 * cos(turn) - $0.1 * sin(turn),
                    y: y + $0.0 * sin(turn) + $0.1 * cos(turn))
            }
        }
    }

    private static func write(
        _ path: String, _ name: String, count: Int, _ ring: (Int) -> [Coordinate]
    ) throws {
        var writer = try VectorWriter(
            path: path, name: name, geometry: .multipolygon,
            fields: [SourceField(name: "number", kind: .integer32, width: 0)], wkid: 4326,
            wkt: nil)
        for number in 0..<count {
            var corners = ring(number)
            corners.append(corners[0])
            var wkb: [UInt8] = []
            func append(_ value: some FixedWidthInteger) {
                unsafe withUnsafeBytes(of: value.littleEndian) {
                    unsafe wkb.append(contentsOf: $0)
                }
            }
            append(UInt8(1))
            append(UInt32(6))
            append(UInt32(1))
            append(UInt8(1))
            append(UInt32(3))
            append(UInt32(1))
            append(UInt32(corners.count))
            for corner in corners {
                append(corner.x.bitPattern)
                append(corner.y.bitPattern)
            }
            try writer.append([SourceValue.integer(Int64(number))], wkb: wkb)
        }
        try writer.close()
    }
}

/// A layer of the comparison, imported, with the questions put to it.
struct BenchLayer {
    let name: String
    let dataset: Dataset
    let directory: String
    let positions: [Coordinate]

    /// How positions are chosen.
    enum Spread {
        /// Anywhere in the extent.
        case extent
        /// In the rectangles of features, each as often.
        case features
        /// Within 0.002 units of corners.
        case corners
    }

    /// Imports `source` and draws the positions from a seed.
    init(
        _ name: String, source: String, into directory: String, questions: Int, spread: Spread
    ) throws {
        self.name = name
        let layer = try DatasetBuilder.importFile(path: source, into: directory)[0]
        self.directory = directory + "/" + layer.dataset.rawValue
        let dataset = try Dataset(path: self.directory + "/layer.fgb")
        self.dataset = dataset
        var random = SeededGenerator(seed: 7)
        let extent = layer.properties.extent ?? .empty
        let corners = spread == .corners ? try Self.corners(dataset) : []
        positions = (0..<questions).map { _ in
            var box = extent
            switch spread {
            case .extent: break
            case .features:
                let ordinal = Int.random(in: 0..<layer.featureCount, using: &random)
                box = dataset.feature(at: ordinal)?.envelope ?? extent
            case .corners:
                let corner = corners.randomElement(using: &random) ?? extent.center
                box = Envelope(
                    minX: corner.x, minY: corner.y, maxX: corner.x, maxY: corner.y
                ).expanded(by: 0.002)
            }
            return Coordinate(
                x: .random(in: box.minX...box.maxX, using: &random),
                y: .random(in: box.minY...box.maxY, using: &random))
        }
    }

    private static func corners(_ dataset: Dataset) throws -> [Coordinate] {
        var result: [Coordinate] = []
        try dataset.forEach { feature in
            for rings in try dataset.polygonParts(of: feature) {
                for ring in rings { result += ring }
            }
        }
        return result
    }

    /// The polygons of every feature, in the order of the dataset.
    func features() throws -> [[[[Coordinate]]]] {
        var result: [[[[Coordinate]]]] = []
        try dataset.forEach { result.append(try dataset.polygonParts(of: $0)) }
        return result
    }
}
