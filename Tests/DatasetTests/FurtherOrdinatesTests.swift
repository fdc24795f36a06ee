// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import GDAL
import Geometry
import TestKit
import Testing

/// A kind of geometry as WKT with a place for every coordinate.
struct OrdinateCase: Sendable, CustomStringConvertible {
    var dimensions: String
    var shape: String
    var description: String { "\(shape) \(dimensions)" }

    /// Each `*` of the forms becomes a coordinate.
    static let forms = [
        "POINT": "(*)", "MULTIPOINT": "(*,*,*)", "LINESTRING": "(*,*,*)",
        "MULTILINESTRING": "((*,*),(*,*,*))", "POLYGON": "((*,*,*,^),(*,*,*,^))",
        "MULTIPOLYGON": "(((*,*,*,^)),((*,*,*,*,^),(*,*,*,^)))",
    ]

    static let all = ["Z", "M", "ZM", ""].flatMap { dimensions in
        forms.keys.sorted().map { OrdinateCase(dimensions: dimensions, shape: $0) }
    }

    /// The text, and the Z and M of its coordinates in order; `^` repeats the ring's first.
    func wkt() -> (text: String, z: [Double], m: [Double]) {
        var (text, z, m) = ("\(shape) \(dimensions) ", [Double](), [Double]())
        var first = 0
        var count = 0
        func coordinate(_ number: Int) -> String {
            let (x, y) = ((number * 37) % 50, (number * number * 13) % 41)
            let further = dimensions.map { $0 == "Z" ? number * 10 + 1 : -number * 10 - 2 }
            return ([x, y] + further).map { "\($0)" }.joined(separator: " ")
        }
        for character in Self.forms[shape] ?? "" {
            switch character {
            case "(": first = count
            case "*", "^":
                let number = character == "^" ? first : count
                text += coordinate(number)
                z.append(Double(number * 10 + 1))
                m.append(Double(-number * 10 - 2))
                count += 1
                continue
            default: break
            }
            text.append(character)
        }
        return (text, z, m)
    }
}

@Suite struct FurtherOrdinatesTests {
    private let scratch = Scratch()

    private func dataset(_ texts: [String]) throws -> Dataset {
        let rows = texts.enumerated().map { "\($0.offset + 1),\"\($0.element)\"" }
        let path = try scratch.write("shapes.csv", "id,wkt\n" + rows.joined(separator: "\n") + "\n")
        let layers = try DatasetBuilder.importFile(path: path, into: scratch.datasets)
        return try scratch.dataset(try #require(layers.first))
    }

    @Test(.slow, arguments: OrdinateCase.all)
    func `every coordinate keeps its Z and its M`(_ form: OrdinateCase) throws {
        let (text, z, m) = form.wkt()
        let dataset = try dataset([text])

        #expect(dataset.properties.hasZ == form.dimensions.contains("Z"))
        #expect(dataset.properties.hasM == form.dimensions.contains("M"))
        let feature = try #require(dataset.feature(at: 0))
        let found = try dataset.furtherOrdinates(of: feature)
        #expect(found.z == (form.dimensions.contains("Z") ? z : nil))
        #expect(found.m == (form.dimensions.contains("M") ? m : nil))
        #expect(try dataset.shape(of: feature)?.coordinateCount == z.count)
    }

    @Test func `GDAL reads the same Z and M from the dataset's file`() throws {
        for form in OrdinateCase.all where form.shape.hasPrefix("MULTI") && form.dimensions == "ZM"
        {
            let (text, _, _) = form.wkt()
            let dataset = try dataset([text])
            let id = try #require(scratch.entries().last)
            #expect(dataset.properties.hasZ)
            let out = scratch.path + "/\(form.shape).csv"
            #expect(
                try scratch.run(
                    "/usr/bin/ogr2ogr",
                    [
                        "-f", "CSV", "-lco", "GEOMETRY=AS_WKT", out,
                        scratch.datasets + "/" + id + "/layer.fgb",
                    ]))
            let written = try String(contentsOfFile: out, encoding: .utf8)
            #expect(
                written.replacing(" ", with: "").contains(text.replacing(" ", with: "")),
                "\(written)")
            try FileManager.default.removeItem(atPath: scratch.datasets + "/" + id)
        }
    }

    @Test func `a feature without Z in a layer with Z has none`() throws {
        let dataset = try dataset(["LINESTRING Z (0 0 5,1 1 6)", "LINESTRING (2 2,3 3,4 4)"])

        var found: [Int64: [Double]] = [:]
        try dataset.forEach { feature in
            found[feature.objectID] = try dataset.furtherOrdinates(of: feature).z
        }

        #expect(found[1] == [5, 6])
        #expect(found[2]?.count == 3 && found[2]?.allSatisfy(\.isNaN) == true)
    }

    @Test func `the parts of a collection keep their Z and M`() throws {
        let path = try scratch.write(
            "collection.csv",
            """
            id,wkt
            1,"GEOMETRYCOLLECTION Z (POINT Z (1 2 3),LINESTRING Z (4 5 6,7 8 9),POINT Z (1 1 4))"

            """)
        let layers = try DatasetBuilder.importFile(path: path, into: scratch.datasets)

        let found = try layers.map { layer in
            let dataset = try scratch.dataset(layer)
            return try dataset.furtherOrdinates(of: try #require(dataset.feature(at: 0))).z
        }
        #expect(found == [[3, 4], [6, 9]])
    }

    @Test(.slow, arguments: OrdinateCase.all)
    func `a feature that was edited keeps its Z and its M`(_ form: OrdinateCase) throws {
        let (text, z, m) = form.wkt()
        let other = text.replacing(/(\d+) (\d+)/) { "\($0.1).5 \($0.2).5" }
        let dataset = try dataset([text, other])
        var edits = LayerEdits(isOpen: true)
        try dataset.forEach { reference in
            let feature = try EditedFeature(reference, of: dataset)
            #expect(feature.ordinates.z == (form.dimensions.contains("Z") ? z : nil))
            #expect(feature.ordinates.m == (form.dimensions.contains("M") ? m : nil))
            let read = try JSONDecoder().decode(
                EditedFeature.self, from: try JSONEncoder().encode(feature))
            #expect(read == feature)
            guard feature.id == 2 else { return }
            edits.apply([FeatureChange(id: 2, sequence: 5, feature: read)])
        }

        let edited = try EditedDataset(dataset, edits)
        let overlay = try #require(edited.overlay)
        let found = try overlay.furtherOrdinates(of: try #require(overlay.feature(at: 0)))
        #expect(found.z == (form.dimensions.contains("Z") ? z : nil))
        #expect(found.m == (form.dimensions.contains("M") ? m : nil))
        let made = try DatasetBuilder.compact(edited, into: scratch.datasets)
        let compacted = try Dataset(
            path: scratch.datasets + "/" + made.dataset.rawValue + "/layer.fgb")
        var ids: Set<Int64> = []
        try compacted.forEach { reference in
            ids.insert(reference.objectID)
            let found = try compacted.furtherOrdinates(of: reference)
            #expect(found.z == (form.dimensions.contains("Z") ? z : nil))
            #expect(found.m == (form.dimensions.contains("M") ? m : nil))
        }
        #expect(ids == [1, 2])
    }

    @Test func `a field's alias is kept`() throws {
        let path = scratch.path + "/alias.fgb"
        var writer = try VectorWriter(
            path: path, name: "alias", geometry: .point,
            fields: [SourceField(name: "built", kind: .integer32, width: 0, alias: "Year built")],
            wkid: 4326, wkt: nil)
        let point: [UInt8] = [1, 1, 0, 0, 0] + [UInt8](repeating: 0, count: 16)
        try writer.append([.integer(3)], wkb: point)
        try writer.close()

        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: scratch.datasets).first)
        #expect(layer.properties.fields.map(\.name) == ["OBJECTID", "built"])
        #expect(layer.properties.fields.map(\.shownName) == ["OBJECTID", "Year built"])
    }
}
