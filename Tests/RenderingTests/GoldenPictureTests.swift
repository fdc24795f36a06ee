// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Identify
import Rendering
import Testing

/// Visually approved pictures: `Tests/Golden/pictures/<name>.png`.
///
/// Versions of Cairo differ slightly, so pictures are compared with a tolerance. One that differs
/// is left in the temporary directory for inspection.
@Suite struct GoldenPictureTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/pictures")

    /// Areas with a hole and a shared border, lines with sharp corners, and discs over each other.
    private func map(_ scene: Scene) throws -> MapDescription {
        makeMap([
            try scene.layer(
                0,
                [
                    polygon([
                        [(5, 5), (60, 5), (60, 85), (30, 60), (5, 85), (5, 5)],
                        [(15, 15), (45, 15), (45, 40), (15, 40), (15, 15)],
                    ]),
                    polygon([[(60, 5), (112, 5), (112, 70), (60, 85), (60, 5)]]),
                    polygon([[(80, 60), (130, 60), (130, 120), (80, 120), (80, 60)]]),
                ]),
            try scene.layer(
                1,
                [
                    #"{"type":"LineString","coordinates":[[-10,30],[50,75],[52,20],[54,75],[130,40]]}"#,
                    #"{"type":"MultiLineString","coordinates":[[[65,15],[105,15]],[[65,22],[105,22]]]}"#,
                ]),
            try scene.layer(
                2,
                [[20, 70], [23, 71], [60, 45], [100, 35], [118, 88]].map {
                    #"{"type":"Point","coordinates":[\#($0[0]),\#($0[1])]}"#
                }),
        ])
    }

    static let pictures: [(String, Double, Bool)] = [
        ("shapes-96-dpi", 96, false), ("shapes-192-dpi-transparent", 192, true),
        ("labels-192-dpi", 192, false),
    ]

    /// The same, with a symbol for each area, dashes, squares and labels.
    private func drawn(_ map: MapDescription) throws -> MapDescription {
        func entry(_ form: LayerSymbol.Form) -> FeatureRenderer.Entry { .init(LayerSymbol(form)) }
        let dark = LayerSymbol.Stroke(.init(60, 60, 60), widthPoints: 0.75)
        let drawings = [
            LayerDrawing(
                .uniqueValues(
                    .init(
                        fields: ["RANK"],
                        values: [
                            .init("1", entry(.fill(.init(.init(250, 220, 180), outline: dark)))),
                            .init(
                                "2",
                                entry(
                                    .fill(
                                        .init(
                                            .init(0, 120, 60), style: .forwardDiagonal,
                                            outline: dark)))),
                        ],
                        others: entry(.fill(.init(.init(200, 200, 240), outline: dark))))),
                transparency: 20, labels: [LabelClass(try .init(parsing: "\"Area \" + [RANK]"))]),
            LayerDrawing(
                .simple(
                    entry(.line(.init(.init(0, 90, 170), widthPoints: 1.5, style: .dashDot)))),
                labels: [
                    LabelClass(
                        try .init(parsing: "\"line\""),
                        symbol: TextSymbol(
                            color: .init(0, 70, 140), sizePoints: 7, isItalic: true))
                ]),
            LayerDrawing(
                .simple(
                    entry(
                        .marker(
                            .init(.square, .init(200, 40, 40), sizePoints: 5, outline: dark)))),
                labels: [
                    LabelClass(
                        try .init(parsing: "[RANK]"), symbol: TextSymbol(isBold: true))
                ]),
        ]
        var map = map
        for index in map.layers.indices { map.layers[index].drawing = drawings[index] }
        return map
    }

    @Test(arguments: pictures)
    func `a picture looks as it did when it was looked at`(
        name: String, dpi: Double, isTransparent: Bool
    ) throws {
        let scene = try Scene()
        let map = try map(scene)
        let scale = Int(dpi / 96)
        var request = makeRequest {
            $0.extent = Envelope(minX: 0, minY: 0, maxX: 120, maxY: 90)
            ($0.width, $0.height) = (120 * scale, 90 * scale)
        }
        (request.dpi, request.isTransparent) = (dpi, isTransparent)

        let picture = try MapPicture.draw(
            request, of: PreparedMap(try name.hasPrefix("labels") ? drawn(map) : map),
            by: scene.engine())
        let drawn = try Pixels(Array(picture.bytes))
        let left = FileManager.default.temporaryDirectory.appending(path: name + ".png")
        do {
            let golden = try Pixels(
                Array(try Data(contentsOf: Self.folder.appending(path: name + ".png"))))
            let difference = drawn.difference(from: golden)
            let isSame = difference.mean < 0.5 && difference.greatest < 64
            #expect(isSame, "\(difference): \(left.path)")
            if !isSame { try picture.bytes.write(to: left) }
        } catch {
            try picture.bytes.write(to: left)
            Issue.record("\(error): \(left.path)")
        }
    }
}
