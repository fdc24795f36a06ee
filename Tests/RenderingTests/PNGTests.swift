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
}
