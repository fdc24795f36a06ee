// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Platform
import Testing
import TileStyles

@Suite struct SpriteTests {
    private static let red = LayerSymbol.Color(200, 0, 0)
    private static let black = LayerSymbol.Color(0, 0, 0)

    private func marker(
        _ style: LayerSymbol.MarkerStyle, _ size: Double = 12, angle: Double = 0,
        outline: LayerSymbol.Stroke? = nil
    ) -> LayerSymbol {
        LayerSymbol(
            .marker(
                .init(style, Self.red, sizePoints: size, angleDegrees: angle, outline: outline)))
    }

    private func rectangles(
        _ sheet: SpriteSheet, _ scale: Int
    ) throws -> [(name: String, x: Int, y: Int, width: Int, height: Int)] {
        let index = try #require(JSONTree(sheet.index(scale: scale)))
        return try index.members.map { name, place in
            func number(_ member: String) throws -> Int {
                Int(try #require(place[member]?.whole))
            }
            #expect(try number("pixelRatio") == scale)
            return (
                name, try number("x"), try number("y"), try number("width"), try number("height")
            )
        }
    }

    @Test func `a map without such symbols has an empty index and one clear pixel`() throws {
        let sheet = SpriteSheet([marker(.circle)])
        for scale in 1...2 {
            #expect(sheet.index(scale: scale) == Array("{}".utf8))
            let picture = try Canvas(png: sheet.picture(scale: scale))
            #expect(picture.width == 1 && picture.height == 1)
            #expect(try picture.rgba() == [0, 0, 0, 0])
        }
    }

    @Test func `pictures are where the index says, whatever the order of the symbols`() throws {
        var symbols = LayerSymbol.MarkerStyle.allCases.flatMap { style in
            [4, 11.5, 30].map { marker(style, $0, angle: $0) }
        }
        symbols += LayerSymbol.FillStyle.allCases.map {
            LayerSymbol(
                .fill(.init(Self.red, style: $0, outline: .init(Self.black, widthPoints: 1))))
        }
        symbols.append(marker(.circle, outline: .init(Self.black, widthPoints: 1, style: .dash)))
        let sheet = SpriteSheet(symbols)
        #expect(SpriteSheet(symbols.reversed() + symbols) == sheet)
        for scale in 1...2 {
            let places = try rectangles(sheet, scale)
            // Markers but circles in three sizes, six patterns, and the dashed circle.
            #expect(places.count == 15 + 6 + 1)
            #expect(places.map(\.name) == places.map(\.name).sorted())
            let bytes = try sheet.picture(scale: scale)
            #expect(try sheet.picture(scale: scale) == bytes)
            let picture = try Canvas(png: bytes)
            let pixels = try picture.rgba()
            var owner = [Int](repeating: -1, count: picture.width * picture.height)
            for (number, place) in places.enumerated() {
                var inked = 0
                for y in place.y..<place.y + place.height {
                    for x in place.x..<place.x + place.width {
                        #expect(owner[y * picture.width + x] == -1)
                        owner[y * picture.width + x] = number
                        if pixels[(y * picture.width + x) * 4 + 3] > 0 { inked += 1 }
                    }
                }
                #expect(inked > 0, "\(place.name)")
            }
            // Nothing is drawn over its rectangle.
            #expect(owner.indices.allSatisfy { owner[$0] >= 0 || pixels[$0 * 4 + 3] == 0 })
        }
    }

    @Test func `a square is red to its sides and clear beyond`() throws {
        let sheet = SpriteSheet([marker(.square, 12)])
        let place = try #require(try rectangles(sheet, 2).first)
        let picture = try Canvas(png: sheet.picture(scale: 2))
        let pixels = try picture.rgba()
        // 12 points are 16 pixels, 32 of the double size.
        let first = (place.width - 32) / 2
        func pixel(_ x: Int, _ y: Int) -> [UInt8] {
            Array(
                pixels[
                    ((place.y + y) * picture.width + place.x + x)
                        * 4..<((place.y + y) * picture.width + place.x + x) * 4 + 4])
        }
        #expect(pixel(first, first) == [200, 0, 0, 255])
        #expect(pixel(first + 31, first + 31) == [200, 0, 0, 255])
        #expect(pixel(first - 1, first)[3] == 0 && pixel(first + 32, first + 31)[3] == 0)
    }

    @Test func `beyond its bounds symbols are left out`() throws {
        let symbols = (0..<200).map { marker(.square, 190 + Double($0) / 100) }
        let sheet = SpriteSheet(symbols)
        let places = try rectangles(sheet, 1)
        #expect((1..<200).contains(places.count))
        for place in places {
            #expect(place.x + place.width <= SpriteSheet.sideBound)
            #expect(place.y + place.height <= SpriteSheet.sideBound)
        }
    }
}
