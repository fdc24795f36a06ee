// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import TestKit
import Testing

/// The comparisons of many lanes, with every set of instructions that this processor has, against
/// the same comparisons one by one.
@Suite struct LanesTests {
    private static let seed: UInt64 = 64

    /// Few different numbers, so that many are equal.
    private static let numbers = [
        -.infinity, -2, -1, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 1,
        1.nextUp, 2, .infinity, .nan,
    ]

    @Test func `rectangles meet where all four comparisons say so`() {
        var random = SeededGenerator(seed: Self.seed)
        func number() -> Float { Float(Self.numbers.randomElement(using: &random) ?? 0) }
        var met = 0
        var mismatches: [String] = []
        for _ in 0..<2_000 {
            let block = (0..<64).map { _ in number() }
            let box = (0..<4).map { _ in number() }
            let expected = (0..<16).reduce(UInt32(0)) { bits, child in
                let meets =
                    block[child] <= box[2] && block[16 + child] <= box[3]
                    && block[32 + child] >= box[0] && block[48 + child] >= box[1]
                return meets ? bits | 1 << UInt32(child) : bits
            }
            met += expected.nonzeroBitCount
            for instructions in Lanes.Instructions.allCases {
                let found = unsafe Lanes.meets(
                    block, minX: box[0], minY: box[1], maxX: box[2], maxY: box[3],
                    by: instructions)
                if found != expected { mismatches.append("\(instructions)") }
            }
        }
        #expect(met > 400)
        #expect(mismatches.isEmpty, "\(mismatches.count): \(mismatches.prefix(3))")
    }

    @Test(arguments: 1...64)
    func `segments are told apart as one by one`(count: Int) {
        var random = SeededGenerator(seed: Self.seed &+ UInt64(count))
        func number() -> Double { Self.numbers.randomElement(using: &random) ?? 0 }
        var mismatches: [String] = []
        for _ in 0..<200 {
            let ordinates = (0..<2 * count).map { _ in number() }
            let (minX, minY) = (number(), number())
            let (maxX, maxY) = (max(minX, number()), max(minY, number()))
            var sure: UInt64 = 0
            var open: UInt64 = 0
            for segment in 0..<count - 1 {
                let x = [ordinates[2 * segment], ordinates[2 * segment + 2]]
                let y = [ordinates[2 * segment + 1], ordinates[2 * segment + 3]]
                let isApart =
                    x.allSatisfy { $0 < minX } || y.allSatisfy { $0 < minY }
                    || y.allSatisfy { $0 > maxY }
                let crosses =
                    x.allSatisfy { $0 > maxX }
                    && (y[0] < minY && y[1] > maxY || y[0] > maxY && y[1] < minY)
                if crosses { sure |= 1 << UInt64(segment) }
                if !isApart && !crosses { open |= 1 << UInt64(segment) }
            }
            for instructions in Lanes.Instructions.allCases {
                let found = unsafe Lanes.crossings(
                    ordinates, count: count, minX: minX, minY: minY, maxX: maxX, maxY: maxY,
                    by: instructions)
                if found.sure != sure || found.open != open {
                    mismatches.append("\(instructions)")
                }
            }
        }
        #expect(mismatches.isEmpty, "\(mismatches.count): \(mismatches.prefix(3))")
    }
}
