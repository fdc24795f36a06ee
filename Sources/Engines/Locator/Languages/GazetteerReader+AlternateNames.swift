// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import ICU
internal import Platform

extension GazetteerReader {
    /// Reads the deferred files of alternate names, in order, once all gazetteers are read; only
    /// rows with ids of the gazetteers are kept.
    ///
    /// `progress` is called for the file and at every 100,000th line, and may throw to stop.
    mutating func readWaiting(
        progress: (_ path: String, _ line: Int) throws(Failure) -> Void
    ) throws(Failure) {
        guard !waiting.isEmpty else { return }
        var table = AlternateNameTable(gazetteer)
        for (path, source) in waiting {
            tally.source = source
            try reading(path) { (reader, lines) throws in
                while let line = try lines.next() {
                    reader.lineNumber = lines.lineNumber
                    if lines.lineNumber.isMultiple(of: 100_000) {
                        try progress(path, lines.lineNumber)
                    }
                    if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
                    do throws(Unusable) {
                        if try table.take(line, from: source) { reader.tally.count() }
                    } catch {
                        reader.reject(error.reason)
                    }
                }
            }
        }
        table.give(to: &gazetteer)
    }
}

/// The rows of GeoNames' `alternateNames.txt` for the places of a build.
///
/// Tab-separated columns: id of the name, id of the named place, language, name, and `1` where it
/// is preferred, short, colloquial, historic; `alternateNamesV2.txt` adds from and to.
private struct AlternateNameTable {
    private struct Name {
        var text: String
        /// BCP 47; nil for a name without a language.
        var language: String?
        /// Preference within its language, lower first; nil for a name that never represents it.
        var rank: Int?
    }

    /// The object of an id: a settlement by number, or a division or country by code.
    private enum Target {
        case settlement(Int)
        case area(String)
    }

    private var targets: [UInt32: Target] = [:]
    private var names: [UInt32: [Name]] = [:]
    private var sources: [UInt32: [UInt16]] = [:]
    private var tags: [String: String?] = [:]

    init(_ gazetteer: Gazetteer) {
        for (code, country) in gazetteer.countries.sorted(by: { $0.key < $1.key }) {
            targets[country.id] = .area(code)
        }
        for (code, region) in gazetteer.regions.sorted(by: { $0.key < $1.key }) {
            targets[region.id] = .area(code)
        }
        for (code, subregion) in gazetteer.subregions.sorted(by: { $0.key < $1.key }) {
            targets[subregion.id] = .area(code)
        }
        for (number, settlement) in gazetteer.settlements.enumerated() {
            targets[settlement.id] = .settlement(number)
        }
        targets[0] = nil
    }

    /// Whether the row is used; throws for a malformed one.
    mutating func take(_ line: [UInt8], from source: UInt16) throws(Unusable) -> Bool {
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard fields.count >= 4 else {
            throw Unusable("it has \(fields.count) columns; expected 4 or more")
        }
        // Most rows are for places outside the build.
        guard let id = UInt32(String(decoding: fields[1], as: UTF8.self)) else {
            throw Unusable(
                "id '\(String(decoding: fields[1].prefix(40), as: UTF8.self))': expected a whole "
                    + "number below 4294967296")
        }
        guard targets[id] != nil else { return false }
        guard let code = String(validating: fields[2], as: UTF8.self),
            let text = String(validating: fields[3], as: UTF8.self)
        else { throw Unusable("it is not valid UTF-8") }
        guard !text.isEmpty else { throw Unusable("the name is empty") }
        guard text.utf8.count <= NameInLanguage.longestName else {
            throw Unusable("the name is longer than \(NameInLanguage.longestName) bytes")
        }
        let language = tag(code)
        // Codes that are no language mark links, postcodes, airports and the like.
        guard language != nil || code.isEmpty else { return false }
        let flags = (4..<8).map { $0 < fields.count && fields[$0].elementsEqual("1".utf8) }
        let (isPreferred, isShort, isColloquial, isHistoric) = (
            flags[0], flags[1], flags[2], flags[3]
        )
        let rank = isColloquial || isHistoric ? nil : (isShort ? 2 : 0) + (isPreferred ? 0 : 1)
        names[id, default: []].append(Name(text: text, language: language, rank: rank))
        if !(sources[id] ?? []).contains(source) { sources[id, default: []].append(source) }
        return true
    }

    private mutating func tag(_ code: String) -> String? {
        if let known = tags[code] { return known }
        let tag = LanguageTag(code)?.text
        if tags.count < 10_000 { tags.updateValue(tag, forKey: code) }
        return tag
    }

    /// Assigns the names to settlements, divisions and countries.
    func give(to gazetteer: inout Gazetteer) {
        for (id, names) in names {
            let best = Self.best(of: names)
            let origins = (sources[id] ?? []).map {
                Origin(source: $0, id: SourceIdentifier(number: id))
            }
            func others(beside known: [String]) -> [String] {
                var seen = Set(known)
                return names.map(\.text).filter { seen.insert($0).inserted }
            }
            switch targets[id] {
            case .settlement(let number)?:
                var settlement = gazetteer.settlements[number]
                settlement.alternateNames += others(
                    beside: [settlement.name] + settlement.alternateNames)
                settlement.languageNames.add(best)
                for origin in origins { settlement.origins.add(origin) }
                gazetteer.settlements[number] = settlement
            case .area(let code)?:
                var area = gazetteer.areas[code] ?? Gazetteer.AreaNames()
                area.alternateNames += others(beside: area.alternateNames)
                area.languageNames.add(best)
                for origin in origins { area.origins.add(origin) }
                gazetteer.areas[code] = area
            case nil: break
            }
        }
    }

    /// The preferred name per language; the first one wins ties.
    private static func best(of names: [Name]) -> [NameInLanguage] {
        var best: [String: (rank: Int, number: Int)] = [:]
        for (number, name) in names.enumerated() {
            guard let language = name.language, let rank = name.rank else { continue }
            if rank < best[language]?.rank ?? .max { best[language] = (rank, number) }
        }
        return best.map { NameInLanguage(tag: $0.key, name: names[$0.value.number].text) }
            .sorted { $0.language < $1.language }
    }
}
