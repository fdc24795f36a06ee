// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import TestKit
import Testing

@Suite struct DecimalTextTests {
    private func text(_ value: Double) -> String {
        var bytes = Array("[".utf8)
        DecimalText.append(value, to: &bytes)
        return String(decoding: bytes.dropFirst(), as: UTF8.self)
    }

    private func text(_ value: Int64) -> String {
        var bytes: [UInt8] = []
        DecimalText.append(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `numbers of every form are written as their descriptions`() {
        var random = SeededGenerator(seed: 81)
        for round in 0..<200_000 {
            let value: Double
            switch round % 5 {
            case 0: value = .random(in: -180...180, using: &random)
            case 1: value = .random(in: -2e7...2e7, using: &random)
            case 2: value = (Double.random(in: -1e9...1e9, using: &random)).rounded() / 1e7
            case 3: value = (Double.random(in: -1e6...1e6, using: &random)).rounded() / 1e3
            default: value = Double(bitPattern: random.next())
            }
            guard value.isFinite else { continue }
            let expected =
                abs(value) < 0x1p53 && value == value.rounded()
                ? String(Int64(value)) : value.description
            guard text(value) != expected else { continue }
            Issue.record("\(value.bitPattern): \(text(value)) instead of \(expected)")
            return
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `positions are written number by number, in either order`(
        isReversed: Bool, isSecondFirst: Bool
    ) {
        var random = SeededGenerator(seed: 82)
        for count in [0, 1, 2, 3, 255, 256, 257, 700] {
            for oddity in [0.0, 0.01, 0.7] {
                var ordinates: [Double] = (0..<2 * count).map { _ in
                    if Double.random(in: 0..<1, using: &random) < oddity {
                        return [1e-9, .pi, .nan, .infinity, 3e20].randomElement(using: &random) ?? 0
                    }
                    let decimals: Double = [1, 1e2, 1e5, 1e7].randomElement(using: &random) ?? 1
                    return Double.random(in: -1e8...1e8, using: &random).rounded() / decimals
                }
                func written(_ value: Double) -> String {
                    value.isFinite ? text(value) : "null"
                }
                var pairs = stride(from: 0, to: 2 * count, by: 2).map { index in
                    isSecondFirst
                        ? "[\(written(ordinates[index + 1])),\(written(ordinates[index]))]"
                        : "[\(written(ordinates[index])),\(written(ordinates[index + 1]))]"
                }
                if isReversed { pairs.reverse() }
                // Half a position at the end is none.
                ordinates.append(1)
                var bytes = Array("<".utf8)
                unsafe DecimalText.append(
                    positions: ordinates.span.bytes, isReversed: isReversed,
                    isSecondFirst: isSecondFirst, to: &bytes)
                #expect(
                    String(decoding: bytes, as: UTF8.self) == "<" + pairs.joined(separator: ","))
            }
        }
    }

    @Test func `the ends of the ranges are written right`() {
        #expect(text(0.0) == "0" && text(-0.0) == "0" && text(0.1) == "0.1")
        #expect(text(0.0001) == "0.0001" && text(0.00001) == "1e-05")
        #expect(text(99_999_999.9999999) == "99999999.9999999")
        #expect(text(-1.5) == "-1.5" && text(0x1p53) == "9007199254740992.0")
        #expect(text(Double.greatestFiniteMagnitude) == "1.7976931348623157e+308")
        #expect(
            text(Int64.min) == "-9223372036854775808" && text(Int64.max) == "9223372036854775807")
        #expect(text(Int64(0)) == "0" && text(Int64(-10)) == "-10")
    }
}
