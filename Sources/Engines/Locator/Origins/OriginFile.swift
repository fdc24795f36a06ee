// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The origins of the records in an opened, validated locator file.
final class OriginFile: Sendable {
    let sourceCount: Int
    private let setCount: Int
    private let text: Range<Int>
    private let sources: Range<Int>
    private let sets: Range<Int>
    private let setSources: Range<Int>
    private let placeStarts: Range<Int>
    private let placeOrigins: Range<Int>
    private let streets: Range<Int>
    private let houses: Range<Int>

    init(sections: [Range<Int>]) {
        func section(_ section: LocatorLayout.Section) -> Range<Int> { sections[section.rawValue] }
        text = section(.text)
        sources = section(.sources)
        sets = section(.originSets)
        setSources = section(.originSetSources)
        placeStarts = section(.placeOriginStarts)
        placeOrigins = section(.placeOrigins)
        streets = section(.streetOrigins)
        houses = section(.houseOrigins)
        sourceCount = sources.count / 32
        setCount = sets.count / 4 - 1
    }

    func source(_ number: Int, _ bytes: RawSpan) -> LocatorSource {
        let at = sources.lowerBound + 32 * number
        let attribution = string(at + 16, bytes)
        return LocatorSource(
            name: string(at, bytes), form: string(at + 8, bytes),
            attribution: attribution.isEmpty ? nil : attribution,
            recordCount: Int(clamping: bytes.uint64(at: at + 24)))
    }

    /// The sources of a place, each with its identifier where present: `cities.tsv#2988507;
    /// paris.osm.pbf#node/17807753`.
    func origins(ofPlace place: Int, _ bytes: RawSpan) -> String {
        let at = placeStarts.lowerBound + 4 * place
        let records = Int(bytes.uint32(at: at))..<Int(bytes.uint32(at: at + 4))
        return records.map { record -> String in
            let at = placeOrigins.lowerBound + 16 * record
            let name = self.name(ofSource: Int(bytes.uint32(at: at)), bytes)
            let id = identifier(at, bytes)
            return id.isEmpty ? name : name + "#" + id
        }.joined(separator: "; ")
    }

    private func identifier(_ at: Int, _ bytes: RawSpan) -> String {
        let value = bytes.uint64(at: at + 8)
        switch StoredIdentifierForm(rawValue: bytes.uint32(at: at + 4)) {
        case .number: return "\(value)"
        case .node: return "node/\(value)"
        case .way: return "way/\(value)"
        case .relation: return "relation/\(value)"
        case .text: return string(at + 8, bytes)
        case nil, .some(.none): return ""
        }
    }

    /// The names of the sources of a street, from all its rows and lines.
    func origins(ofStreet street: Int, _ bytes: RawSpan) -> String {
        names(inSets: [set(street, streets, bytes)], bytes)
    }

    /// The names of the sources of an intersection's two streets.
    func origins(ofStreets first: Int, _ second: Int, _ bytes: RawSpan) -> String {
        names(inSets: [set(first, streets, bytes), set(second, streets, bytes)], bytes)
    }

    /// The names of the sources of a house.
    func origins(ofHouse house: Int, _ bytes: RawSpan) -> String {
        names(inSets: [set(house, houses, bytes)], bytes)
    }

    private func names(inSets sets: [Int], _ bytes: RawSpan) -> String {
        var numbers: Set<Int> = []
        for set in sets {
            let at = self.sets.lowerBound + 4 * set
            for member in Int(bytes.uint32(at: at))..<Int(bytes.uint32(at: at + 4)) {
                numbers.insert(Int(bytes.uint32(at: setSources.lowerBound + 4 * member)))
            }
        }
        return numbers.sorted().map { name(ofSource: $0, bytes) }.joined(separator: "; ")
    }

    /// The set of a record, from the runs of its section.
    private func set(_ record: Int, _ runs: Range<Int>, _ bytes: RawSpan) -> Int {
        var range = 0..<runs.count / 8
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            if Int(bytes.uint32(at: runs.lowerBound + 8 * middle)) <= record {
                range = middle..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.isEmpty
            ? 0 : Int(bytes.uint32(at: runs.lowerBound + 8 * range.lowerBound + 4))
    }

    private func name(ofSource source: Int, _ bytes: RawSpan) -> String {
        string(sources.lowerBound + 32 * source, bytes)
    }

    private func string(_ at: Int, _ bytes: RawSpan) -> String {
        let start = text.lowerBound + Int(bytes.uint32(at: at))
        return String(
            decoding: bytes.copy(start..<start + Int(bytes.uint32(at: at + 4))), as: UTF8.self)
    }

    // MARK: Checks

    /// Checks every offset and index.
    func check(
        _ bytes: RawSpan, placeCount: Int, streetCount: Int, houseCount: Int
    ) throws(LocatorFile.Damage) {
        for source in 0..<sourceCount {
            for field in [0, 8, 16] {
                try checkText(sources.lowerBound + 32 * source + field, "source \(source)", bytes)
            }
        }
        guard setCount >= 0, placeStarts.count == 4 * (placeCount + 1) else {
            throw LocatorFile.Damage("the origins do not match the places")
        }
        try checkStarts(sets, upTo: setSources.count / 4, "set of sources", bytes)
        try checkStarts(placeStarts, upTo: placeOrigins.count / 16, "origins of place", bytes)
        for member in 0..<setSources.count / 4
        where Int(bytes.uint32(at: setSources.lowerBound + 4 * member)) >= sourceCount {
            throw LocatorFile.Damage("a set has a source that does not exist")
        }
        for record in 0..<placeOrigins.count / 16 {
            let at = placeOrigins.lowerBound + 16 * record
            guard Int(bytes.uint32(at: at)) < sourceCount,
                let form = StoredIdentifierForm(rawValue: bytes.uint32(at: at + 4))
            else { throw LocatorFile.Damage("origin \(record) is invalid") }
            if form == .text { try checkText(at + 8, "origin \(record)", bytes) }
        }
        try checkRuns(streets, of: streetCount, bytes)
        try checkRuns(houses, of: houseCount, bytes)
    }

    private func checkText(
        _ at: Int, _ what: String, _ bytes: RawSpan
    ) throws(LocatorFile.Damage) {
        guard Int(bytes.uint32(at: at)) + Int(bytes.uint32(at: at + 4)) <= text.count else {
            throw LocatorFile.Damage("\(what) is invalid")
        }
    }

    private func checkStarts(
        _ section: Range<Int>, upTo limit: Int, _ what: String, _ bytes: RawSpan
    ) throws(LocatorFile.Damage) {
        var last: UInt32 = 0
        for record in 0..<section.count / 4 {
            let next = bytes.uint32(at: section.lowerBound + 4 * record)
            guard next >= last, Int(next) <= limit else {
                throw LocatorFile.Damage("\(what) \(record) is invalid")
            }
            last = next
        }
    }

    private func checkRuns(
        _ section: Range<Int>, of count: Int, _ bytes: RawSpan
    ) throws(LocatorFile.Damage) {
        guard (section.count == 0) == (count == 0) else {
            throw LocatorFile.Damage("the origins do not match the addresses")
        }
        var last = -1
        for run in 0..<section.count / 8 {
            let at = section.lowerBound + 8 * run
            let first = Int(bytes.uint32(at: at))
            guard first > last, first < count, run > 0 || first == 0,
                Int(bytes.uint32(at: at + 4)) < setCount
            else { throw LocatorFile.Damage("run \(run) of origins is invalid") }
            last = first
        }
    }
}
