// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Foundation
import Geometry
import RouteDirections
import TestKit
import Testing

/// Lines as text, beside published examples and what they are read back to.
@Suite struct EncodingTests {
    @Test func `Esri's examples are read and written digit for digit`() throws {
        let twice = try CompressedGeometry.decode("+hf6e7-1vvvvtn+ij4dus+0+0")
        #expect(twice.count == 2 && twice[0] == twice[1])
        #expect(abs(twice[0].x - -117.195_699_924_54) < 1e-11)
        #expect(abs(twice[0].y - 34.056_490_014_60) < 1e-11)
        #expect(try CompressedGeometry.encode(twice) == "+hf6e7-1vvvvtn+ij4dus+0+0")

        let text = "+54-1voeh4k+jn9k62+0+cm9"
        let line = try CompressedGeometry.decode(text)
        let expected = [
            Coordinate(x: -13_046_166.756_097_56, y: 4_036_384.402_439_02),
            Coordinate(x: -13_046_166.756_097_56, y: 4_036_463.676_829_27),
        ]
        for (one, other) in zip(line, expected) {
            #expect(abs(one.x - other.x) < 1e-7 && abs(one.y - other.y) < 1e-7)
        }
        #expect(try CompressedGeometry.encode(line) == text)
    }

    @Test func `Google's example is read and written`() throws {
        let line = [
            Coordinate(x: -120.2, y: 38.5), Coordinate(x: -120.95, y: 40.7),
            Coordinate(x: -126.453, y: 43.252),
        ]
        #expect(try EncodedPolyline.five.encode(line) == "_p~iF~ps|U_ulLnnqC_mqNvxq`@")
        #expect(try EncodedPolyline.five.decode("_p~iF~ps|U_ulLnnqC_mqNvxq`@") == line)
        #expect(try EncodedPolyline.five.encode([]) == "")
        #expect(try EncodedPolyline.six.decode("") == [])
    }

    @Test func `lines are read back within the precision`() throws {
        var random = SeededGenerator(seed: 21)
        for round in 0..<300 {
            let reach = round % 3 == 0 ? 180.0 : round % 3 == 1 ? 0.01 : 2e7
            let count = Int.random(in: 0...40, using: &random)
            let line = (0..<count).map { _ in
                Coordinate(
                    x: Double.random(in: -reach...reach, using: &random),
                    y: Double.random(in: -reach / 2...reach / 2, using: &random))
            }
            // Half a unit; the factor is at most that of the largest ordinate.
            let extent = line.flatMap { [abs($0.x), abs($0.y)] }.max() ?? 0
            let unit = max(extent, 1) / Double(Int32.max)
            let compressed = try CompressedGeometry.decode(CompressedGeometry.encode(line))
            #expect(compressed.count == count)
            for (one, other) in zip(line, compressed) {
                #expect(abs(one.x - other.x) <= 0.51 * unit * 1.01)
                #expect(abs(one.y - other.y) <= 0.51 * unit * 1.01)
            }
            guard reach <= 180 else { continue }
            for polyline in [EncodedPolyline.five, .six] {
                let unit = polyline.decimals == 5 ? 1e-5 : 1e-6
                let decoded = try polyline.decode(polyline.encode(line))
                #expect(decoded.count == count)
                for (one, other) in zip(line, decoded) {
                    #expect(abs(one.x - other.x) <= 0.5001 * unit)
                    #expect(abs(one.y - other.y) <= 0.5001 * unit)
                }
                #expect(try polyline.encode(decoded) == polyline.encode(line))
            }
        }
    }

    @Test func `extreme lines are encoded`() throws {
        let origin = Coordinate(x: 0, y: 0)
        #expect(try CompressedGeometry.encode([origin]) == "+1vvvvvv+0+0")
        #expect(try CompressedGeometry.decode("+1vvvvvv+0+0") == [origin])
        let far = [Coordinate(x: 1e12, y: -1e12), origin]
        #expect(try CompressedGeometry.decode(CompressedGeometry.encode(far)) == far)
        let tiny = [Coordinate(x: 1e-300, y: 0)]
        #expect(try CompressedGeometry.decode(CompressedGeometry.encode(tiny)) == [origin])
    }

    @Test(arguments: [
        "", "5", "+", "+-1", "+0+1+1", "-5+1+1", "+5+1", "+5+w+1", "+5 +1+1", "+5+1+1x",
        "+1+7vvvvvvvvvvvv+0+1+0", "+1+fvvvvvvvvvvvv+0", "é", "+5+1é+2",
    ])
    func `other texts are refused as compressed geometry`(text: String) {
        #expect(throws: Failure.self) { try CompressedGeometry.decode(text) }
    }

    @Test(arguments: ["_", "_p~iF", "_p~iF~ps|", "a b", "~~~~~~~~~~~~~~~~?", "é?", "_p~iF~ps|U>"])
    func `other texts are refused as polylines`(text: String) {
        #expect(throws: Failure.self) { try EncodedPolyline.five.decode(text) }
    }

    @Test func `what is no position is refused`() {
        for bad in [Double.nan, .infinity, 1e300] {
            let line = [Coordinate(x: 0, y: bad)]
            #expect(throws: Failure.self) { try CompressedGeometry.encode(line) }
            #expect(throws: Failure.self) { try EncodedPolyline.six.encode(line) }
        }
    }
}
