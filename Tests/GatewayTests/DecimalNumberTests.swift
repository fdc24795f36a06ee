// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import TestKit
import Testing

@testable import Gateway

@Suite struct DecimalNumberTests {
    @Test func `a decimal is the nearest double, as Swift reads it`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let digits = (0..<Int.random(in: 1...22, using: &random)).map { _ in
                Character("\(Int.random(in: 0...9, using: &random))")
            }
            var text = String(digits)
            if Bool.random(using: &random) {
                let place = Int.random(in: 0...digits.count, using: &random)
                text.insert(".", at: text.index(text.startIndex, offsetBy: place))
            }
            text = (["", "-", "+"].randomElement(using: &random) ?? "") + text
            if Int.random(in: 0..<8, using: &random) == 0 {
                text += "e\(Int.random(in: -330...300, using: &random))"
            }
            let expected = Double(text).flatMap { $0.isFinite ? $0 : nil }
            #expect(
                Double(decimal: text.utf8)?.bitPattern == expected?.bitPattern,
                "seed \(seed): \(text)")
        }
    }

    @Test(arguments: [
        ("0", 0), ("-0", -0.0), ("9007199254740993", 9_007_199_254_740_992), (".5", 0.5), ("5.", 5),
        (" 1 000.5", 1000.5), ("1E3", 1000),
        ("0.1234567890123456789", 0.1234567890123456789),
    ])
    func `decimals of other forms are read too`(text: String, expected: Double) {
        #expect(Double(decimal: text.utf8)?.bitPattern == expected.bitPattern, "\(text)")
    }

    @Test(arguments: [
        "", " ", "-", ".", "+", "-.", "1.2.3", "1-2", "--1", "nan", "inf", "0x10", "1e999", "1_000",
        "١", "1e", "1,2",
    ])
    func `text that is no finite decimal is none`(text: String) {
        #expect(Double(decimal: text.utf8) == nil)
    }
}
