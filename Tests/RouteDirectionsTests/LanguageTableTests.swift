// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import RouteDirections

/// Every table is complete.
@Suite struct LanguageTableTests {
    static let codes = ["de", "en", "es", "fr", "it", "nl", "pl", "pt"]

    private func table(_ code: String) throws -> LanguageTable {
        try #require(LanguageTable.shipped.first { $0.code == code })
    }

    @Test func `all languages are there, by code`() {
        #expect(LanguageTable.shipped.map(\.code) == Self.codes)
        #expect(DirectionsLanguage.all.map(\.code) == Self.codes)
        #expect(Set(DirectionsLanguage.all.map(\.name)).count == Self.codes.count)
    }

    @Test(arguments: codes) func `a table has every phrase with every placeholder`(
        code: String
    ) throws {
        let table = try table(code)
        let english = try self.table("en")
        #expect(Set(table.phrases.keys) == Set(PhraseKey.all))
        for key in PhraseKey.all {
            let phrase = try #require(Phrase(table.phrases[key] ?? "["), "\(code) \(key)")
            let other = try #require(Phrase(english.phrases[key] ?? "["))
            #expect(
                Set(phrase.slots.map(\.name)) == Set(other.slots.map(\.name)), "\(code) \(key)")
            #expect(!phrase.slots.isEmpty || key.hasPrefix("side."), "\(code) \(key)")
            #expect(phrase.text(value: { _ in "" }, append: { _, _ in }) != "", "\(code) \(key)")
        }
    }

    /// Else a text would have a gap.
    @Test(arguments: codes) func `outside of brackets is only what always has a value`(
        code: String
    ) throws {
        let always: Set = ["stop", "compass", "ordinal", "n", "first", "second"]
        for (key, text) in try table(code).phrases {
            for case .slot(let slot) in try #require(Phrase(text)).parts {
                #expect(always.contains(slot.name), "\(code) \(key)")
            }
        }
    }

    @Test(arguments: codes) func `every form of a street has rules, and words for classes`(
        code: String
    ) throws {
        let table = try table(code)
        var forms: Set<String> = []
        for text in table.phrases.values {
            for slot in try #require(Phrase(text)).slots where !slot.form.isEmpty {
                #expect(["street", "cross"].contains(slot.name), "\(code) \(text)")
                forms.insert(slot.form)
            }
        }
        #expect(Set(table.forms.keys) == forms)
        #expect(Set(table.roads.keys) == Set(LanguageTable.namedRoads))
        for words in table.roads.values {
            #expect(Set(words.keys) == forms.union([""]))
            #expect(words.values.allSatisfy { !$0.isEmpty })
        }
    }

    @Test(arguments: codes) func `directions, numbers and units are complete`(
        code: String
    ) throws {
        let table = try table(code)
        #expect(Set(table.compass).count == 8 && table.compass.count == 8)
        #expect(table.ordinals.count >= 10)
        #expect(Set(table.ordinals).count == table.ordinals.count)
        #expect(table.ordinal.contains("{n}"))
        #expect(Set(table.units.keys) == Set(LanguageTable.unitKeys))
        #expect(Set(table.times.keys) == Set(LanguageTable.timeKeys))
        for unit in Array(table.units.values) + Array(table.times.values) {
            #expect(!unit.short.isEmpty)
            #expect(Set(unit.long.keys) == Set(table.plurals.categories))
        }
        #expect([".", ","].contains(table.decimal))
    }

    @Test(arguments: ["{a", "[a", "a]", "a}", "{}", "{a|b|c}", "[a|[b]]", "[a|b"])
    func `a pattern with brackets that do not match is none`(text: String) {
        #expect(Phrase(text) == nil)
    }
}
