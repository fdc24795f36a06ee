// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairo
import TestKit
import Testing

/// PNGs that the canvas writes, read by libpng through Cairo.
@Suite struct PNGTests {
    private func noise(_ width: Int, _ height: Int, hasAlpha: Bool) throws -> Canvas {
        let canvas = try Canvas(width: width, height: height, hasAlpha: hasAlpha)
        var random = SeededGenerator(seed: UInt64(width))
        let dot = try Canvas(width: 1, height: 1, hasAlpha: true)
        for pixel in 0..<width * height {
            dot.clear()
            dot.paint(
                PaintColor(
                    red: .random(in: 0...1, using: &random),
                    green: .random(in: 0...1, using: &random),
                    blue: .random(in: 0...1, using: &random),
                    alpha: hasAlpha ? .random(in: 0...1, using: &random) : 1))
            canvas.paint(dot, x: pixel % width, y: pixel / width)
        }
        return canvas
    }

    @Test(arguments: [(1, 1), (3, 2), (257, 190)], [false, true])
    func `a PNG that is read is what was drawn`(size: (Int, Int), hasAlpha: Bool) throws {
        let canvas = try noise(size.0, size.1, hasAlpha: hasAlpha)

        let bytes = try #require(try canvas.png(atMost: 1 << 20))
        let read = try Canvas(png: bytes)

        #expect((read.width, read.height) == size)
        // Colour type 2 has no alpha channel, 6 has one.
        #expect(bytes[25] == (hasAlpha ? 6 : 2))
        let (one, two) = (try canvas.rgba(), try read.rgba())
        for index in stride(from: 0, to: one.count, by: 4) {
            #expect(one[index + 3] == two[index + 3])
            // Multiplied by alpha and divided again, a channel is off by its rounding.
            let slack = 255 / max(1, Int(one[index + 3])) + 1
            for channel in index..<index + 3 where one[index + 3] > 0 {
                #expect(abs(Int(one[channel]) - Int(two[channel])) <= (hasAlpha ? slack : 0))
            }
        }
    }

    @Test func `alpha that covers everything is left out`() throws {
        let canvas = try Canvas(width: 2, height: 2, hasAlpha: true)
        canvas.paint(PaintColor(red: 1, green: 0, blue: 0))
        #expect(try #require(try canvas.png(atMost: 1_000))[25] == 2)
    }

    @Test func `a PNG has no more bytes than it may, and not one less`() throws {
        let canvas = try noise(200, 200, hasAlpha: false)
        let whole = try #require(try canvas.png(atMost: .max)).count

        #expect(try canvas.png(atMost: whole)?.count == whole)
        #expect(try canvas.png(atMost: whole - 1) == nil)
        #expect(try canvas.png(atMost: 0) == nil)
    }

    @Test(arguments: [false, true])
    func `a part is the picture of its pixels alone`(hasAlpha: Bool) throws {
        let canvas = try noise(90, 70, hasAlpha: hasAlpha)
        let (columns, rows) = (17..<60, 5..<70)
        let piece = try Canvas(width: columns.count, height: rows.count, hasAlpha: hasAlpha)
        piece.paint(canvas, x: -columns.lowerBound, y: -rows.lowerBound)

        let bytes = try canvas.png(atMost: .max, of: (columns, rows))

        #expect(try bytes == piece.png(atMost: .max))
        for (columns, rows) in [(3..<3, 0..<9), (0..<9, 70..<80)] {
            #expect(throws: CairoError.self) {
                try canvas.png(atMost: .max, of: (columns, rows))
            }
        }
    }

    @Test func `a part of one colour is no part of two`() throws {
        let canvas = try Canvas(width: 40, height: 30, hasAlpha: true)
        let dot = try Canvas(width: 1, height: 1, hasAlpha: true)
        dot.paint(PaintColor(red: 1, green: 0, blue: 0, alpha: 0.5))
        canvas.paint(dot, x: 20, y: 9)

        #expect(try canvas.uniformPixel(columns: 0..<20, rows: 0..<30) == 0)
        let pixel = try #require(try canvas.uniformPixel(columns: 20..<21, rows: 9..<10))
        #expect(pixel >> 24 > 0 && pixel >> 24 < 255 && pixel & 0xFFFF == 0)
        for (columns, rows) in [(19..<21, 9..<10), (20..<21, 8..<10), (20..<21, 9..<11)] {
            #expect(try canvas.uniformPixel(columns: columns, rows: rows) == nil)
        }
        #expect(try canvas.uniformPixel(columns: 4..<4, rows: 0..<9) == nil)
        let opaque = try Canvas(width: 4, height: 4, hasAlpha: false)
        #expect(try opaque.uniformPixel(columns: 0..<4, rows: 0..<4) == nil)
    }
}
