// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Platform
import Tables

/// Features as JSON, in a form in which GDAL keeps every property unchanged.
///
/// GDAL holds numbers as 64-bit integers and doubles, makes one type of a property's numbers and
/// booleans, reformats lists and objects, and takes numbers for the features' ids. Where that would
/// change a value, the file is rewritten with the property's values as texts.
struct JSONSource {
    /// Facts about a property over all features.
    struct Facts {
        var hasBoolean = false
        var hasInteger = false
        var hasFraction = false
        var hasText = false
        var hasContainer = false
        /// The first number that is not held in its column, with the feature's number.
        var unheld: (row: Int, text: String, reason: String)?
        var large: (row: Int, text: String)?
        var texts = TextFacts()

        /// The reason to rewrite values as texts; nil to keep them.
        var reason: String? {
            let kinds =
                (hasBoolean ? 1 : 0) + (hasInteger || hasFraction ? 1 : 0) + (hasText ? 1 : 0)
                + (hasContainer ? 1 : 0)
            if kinds > 1 { return "is text: its values are of several types" }
            if hasContainer { return "is text: its values are lists or objects, kept as JSON" }
            if let unheld {
                return "is text: '\(unheld.text)' in row \(unheld.row) \(unheld.reason)"
            }
            if hasFraction, let large {
                return "is text: '\(large.text)' in row \(large.row) is a whole number beyond 2⁵³ "
                    + "among fractions"
            }
            return nil
        }
    }

    private static let propertyLimit = 10_000
    private static let null = Array("null".utf8)

    private var facts: [[UInt8]: Facts] = [:]
    private var order: [[UInt8]] = []
    private var rowCount = 0
    private var idCount = 0
    private var integerIDs: [Int32] = []
    private var areIDsGood = true
    private var areIDsIntegers = true
    private var zeroCount = 0

    /// Whether a file begins as JSON does.
    static func isJSON(_ beginning: [UInt8]) -> Bool {
        let marks: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0x1E]
        return beginning.first { $0 > 0x20 && !marks.contains($0) } == UInt8(ascii: "{")
    }

    /// Surveys a file and writes `target` if GDAL would change a value, or the text is not UTF-8;
    /// returns the file to open, nil for the original.
    static func prepare(_ path: String, to target: String, _ types: inout ColumnTypes) throws
        -> String?
    {
        var file = try MappedFile(path: path)
        let found = TextEncoding.find(file)
        types.encoding = SourceEncoding(
            found.encoding, isMarked: found.markByteCount > 0, isGuess: found.isGuess)
        var result: String?
        if found.encoding != .utf8 {
            let plain = target + ".utf8"
            try transcode(file, found, to: plain)
            file = try MappedFile(path: plain)
            result = plain
            if found.isGuess {
                types.fileNotes.append(
                    "the file is not UTF-8, as JSON is: read as \(found.encoding.rawValue)")
            }
        }
        var source = JSONSource()
        // Malformed JSON is left to GDAL, which refuses it.
        guard source.survey(file) else {
            guard result != nil else { return nil }
            let output = try OutputFile(creating: target)
            try output.write(file.copy(0..<file.byteCount), at: 0)
            return target
        }
        source.tell(&types)
        guard result != nil || source.mustWrite else { return nil }
        try source.write(file, to: target)
        return target
    }

    private static func transcode(
        _ file: MappedFile, _ found: TextEncoding.Finding, to target: String
    ) throws {
        let output = try OutputFile(creating: target)
        var decoder = TextDecoder(found.encoding)
        var written = 0
        for start in stride(from: found.markByteCount, to: file.byteCount, by: 256 << 10) {
            let end = min(start + (256 << 10), file.byteCount)
            var text = decoder.decode(file.copy(start..<end))
            if end == file.byteCount { text += decoder.finish() }
            try output.write(text, at: written)
            written += text.count
        }
    }

    // MARK: The first pass

    private mutating func survey(_ file: MappedFile) -> Bool {
        file.withBytes { bytes in
            JSONWalk.features(bytes) { feature in
                rowCount += 1
                take(id: feature, bytes)
                for member in feature.properties { take(member, bytes) }
                return true
            }
        }
    }

    private mutating func take(id feature: JSONWalk.Feature, _ bytes: RawSpan) {
        guard feature.isListed, let id = feature.id else {
            if feature.isListed { areIDsGood = false }
            return
        }
        let text = JSONWalk.copy(bytes, id.value)
        guard text != Self.null else {
            areIDsGood = false
            return
        }
        idCount += 1
        guard let integer = TextValue.integer(text) else {
            areIDsGood = false
            areIDsIntegers = false
            return
        }
        guard integer > 0, let small = Int32(exactly: integer) else {
            areIDsGood = false
            return
        }
        if areIDsGood { integerIDs.append(small) }
    }

    private mutating func take(_ member: JSONWalk.Member, _ bytes: RawSpan) {
        let name = JSONWalk.copy(bytes, member.name)
        var fact: Facts
        if let known = facts[name] {
            fact = known
        } else {
            guard facts.count < Self.propertyLimit else { return }
            fact = Facts()
            fact.texts.takesNumbers = false
            order.append(name)
        }
        defer { facts[name] = fact }
        switch JSONWalk.byte(bytes, member.value.lowerBound) {
        case UInt8(ascii: "n"): break
        case UInt8(ascii: "t"), UInt8(ascii: "f"): fact.hasBoolean = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): fact.hasContainer = true
        case UInt8(ascii: "\""):
            fact.hasText = true
            let inner = member.value.lowerBound + 1..<member.value.upperBound - 1
            // Longer ones are no moments.
            fact.texts.take(
                inner.count <= 40 ? JSONWalk.copy(bytes, inner) : [UInt8(ascii: "-")])
        default: Self.takeNumber(JSONWalk.copy(bytes, member.value), rowCount, &fact)
        }
    }

    private static func takeNumber(_ text: [UInt8], _ row: Int, _ fact: inout Facts) {
        func unheld(_ reason: String) {
            if fact.unheld == nil { fact.unheld = (row, TextFacts.shown(text), reason) }
        }
        if let integer = TextValue.integer(text) {
            fact.hasInteger = true
            if Int64(exactly: Double(integer)) != integer, fact.large == nil {
                fact.large = (row, TextFacts.shown(text))
            }
            return
        }
        guard let parts = TextValue.Decimal(text, decimalComma: false) else {
            // NaN and Infinity, which are not JSON: null, which is reported for the value.
            fact.hasFraction = true
            return
        }
        if !parts.hasPoint, !parts.hasExponent, text != Array("-0".utf8) {
            fact.hasInteger = true
            return unheld("is beyond 64 bits")
        }
        fact.hasFraction = true
        guard let value = Double(parts.text), value.isFinite, parts.isHeld(by: value) else {
            return unheld("has more digits than a number of 64 bits, or is too large for it")
        }
    }

    private var keepsIDs: Bool { idCount == 0 || hasGoodIDs }

    private var hasGoodIDs: Bool {
        areIDsGood && idCount == rowCount && Set(integerIDs).count == integerIDs.count
    }

    private var mustWrite: Bool { !keepsIDs || facts.values.contains { $0.reason != nil } }

    private func tell(_ types: inout ColumnTypes) {
        for name in order {
            guard let fact = facts[name] else { continue }
            let column = JSONWalk.text(name)
            if let reason = fact.reason {
                types.notes.append((column, reason))
            } else if fact.hasText {
                types.kinds[column] = fact.texts.kind
                if let note = fact.texts.note { types.notes.append((column, note)) }
            }
        }
        if !keepsIDs {
            types.fileNotes.append(
                "the ids of the features are not whole numbers from 1 to 2147483647, each once: "
                    + "they "
                    + "are the column '\(idName)'")
        }
    }

    /// The property name for ids: `id`, or with a number when taken.
    private var idName: String {
        let names = Set(order.map { JSONWalk.text($0).lowercased() })
        var name = "id"
        var number = 0
        while names.contains(name) {
            number += 1
            name = "id_\(number)"
        }
        return name
    }

    // MARK: The second pass

    private func write(_ file: MappedFile, to target: String) throws {
        let output = try OutputFile(creating: target)
        var (place, written) = (0, 0)
        var waiting: [UInt8] = []
        var failure: (any Error)?
        file.withBytes { bytes in
            func replace(_ range: Range<Int>, _ text: [UInt8]) {
                waiting += JSONWalk.copy(bytes, place..<range.lowerBound)
                waiting += text
                place = range.upperBound
            }
            func flush(to least: Int) -> Bool {
                guard waiting.count >= least else { return true }
                do {
                    try output.write(waiting, at: written)
                    written += waiting.count
                    waiting.removeAll(keepingCapacity: true)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
            let texts = Set(facts.filter { $0.value.reason != nil }.keys)
            _ = JSONWalk.features(bytes) { feature in
                for edit in edits(feature, texts, bytes) { replace(edit.range, edit.text) }
                // Between features only unedited parts are large.
                while feature.end - place > 1 << 20 {
                    replace(place + (1 << 20)..<place + (1 << 20), [])
                    guard flush(to: 1) else { return false }
                }
                return flush(to: 1 << 20)
            }
            while bytes.byteCount - place > 0 {
                let end = min(place + (1 << 20), bytes.byteCount)
                replace(end..<end, [])
                guard flush(to: 1) else { break }
            }
            _ = flush(to: 1)
        }
        if let failure { throw failure }
    }

    private typealias Edit = (range: Range<Int>, text: [UInt8])

    private func edits(
        _ feature: JSONWalk.Feature, _ texts: Set<[UInt8]>, _ bytes: RawSpan
    ) -> [Edit] {
        var edits: [Edit] = []
        if !keepsIDs, feature.isListed, let id = feature.id {
            let value = JSONWalk.copy(bytes, id.value)
            let isText = value.first == UInt8(ascii: "\"")
            let stated =
                areIDsIntegers || isText || value == Self.null ? value : JSONWalk.quoted(value)
            let member = Array("\"\(idName)\":".utf8) + stated
            edits.append((id.name, Array("_id".utf8)))
            if let place = feature.propertiesPlace {
                let isObject = JSONWalk.byte(bytes, place.lowerBound) == UInt8(ascii: "{")
                if isObject {
                    let comma = feature.properties.isEmpty ? [] : [UInt8(ascii: ",")]
                    edits.append(
                        (place.lowerBound + 1..<place.lowerBound + 1, member + comma))
                } else {
                    edits.append(
                        (place, [UInt8(ascii: "{")] + member + [UInt8(ascii: "}")]))
                }
            } else {
                let text =
                    Array("\"properties\":{".utf8) + member + [
                        UInt8(ascii: "}"), UInt8(ascii: ","),
                    ]
                edits.append((feature.start + 1..<feature.start + 1, text))
            }
        }
        for member in feature.properties
        where texts.contains(JSONWalk.copy(bytes, member.name)) {
            let first = JSONWalk.byte(bytes, member.value.lowerBound)
            guard first != UInt8(ascii: "\""), first != UInt8(ascii: "n") else { continue }
            edits.append((member.value, JSONWalk.quoted(JSONWalk.copy(bytes, member.value))))
        }
        return edits.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }
}
