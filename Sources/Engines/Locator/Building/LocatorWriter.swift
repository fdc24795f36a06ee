// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// Encodes the parts of a locator as its file.
struct LocatorWriter {
    private let places: [DraftPlace]
    private let addresses: AddressGazetteer
    private let borders: BorderDraft?
    private let categories: [String]
    private let sources: [LocatorSource]
    private let table: NameTable
    private let rankingText: [UInt8]
    private var ranking: (offset: UInt32, count: UInt32) = (0, 0)
    private let numbers: [String: UInt32]
    private var text: [UInt8] = []
    private var textOffsets: [String: UInt32] = [:]
    private var sections: [LocatorLayout.Section: [UInt8]] = [:]

    /// The whole file; throws `Failure` (`tooLarge`) for offsets beyond 32 bits.
    ///
    /// `addresses` are settled; `categories` and `sources` are in the order of their numbers in
    /// points of interest and origins.
    static func bytes(
        for places: [DraftPlace], addresses: AddressGazetteer = AddressGazetteer(),
        borders: BorderDraft? = nil, categories: [String] = [], sources: [LocatorSource] = [],
        ranking: [UInt8] = Ranking.shippedText
    ) throws(Failure) -> [UInt8] {
        var writer = LocatorWriter(
            places, addresses, borders, categories, sources, rankingText: ranking,
            try .reading(ranking, source: "the ranking"))
        try writer.layOut()
        let byteCount = writer.sections.values.reduce(0) { max($0, $1.count) }
        guard byteCount <= Int(UInt32.max) else {
            throw Failure(.tooLarge, "a section of the locator would be larger than 4 GiB")
        }
        return writer.assemble()
    }

    private init(
        _ places: [DraftPlace], _ addresses: AddressGazetteer, _ borders: BorderDraft?,
        _ categories: [String], _ sources: [LocatorSource],
        rankingText: [UInt8], _ ranking: Ranking
    ) {
        self.places = places
        self.addresses = addresses
        self.borders = borders
        self.categories = categories
        self.sources = sources
        self.rankingText = rankingText
        table = NameTable(places, ranking)
        var numbers: [String: UInt32] = [:]
        for (index, place) in places.enumerated() where !place.code.isEmpty {
            numbers[place.code] = UInt32(index)
        }
        self.numbers = numbers
    }

    private mutating func layOut() throws(Failure) {
        sections[.keyText] = table.keyText
        layOutPlaces()
        layOutDivisions()
        layOutKeys()
        sections[.weights] = Self.weights(table.keys.map(\.weight))
        let tree = NameTree(text: table.keyText, names: table.keys.map(\.text)).sections
        sections[.trie] = tree.tree
        sections[.endings] = tree.endings
        layOutWords()
        sections[.nearest] = Self.tree(NearestTree(places, of: .settlement))
        layOutPoints()
        if !addresses.isEmpty {
            var townPlaces = [UInt32](repeating: 0, count: addresses.towns.count)
            for (number, place) in places.enumerated() {
                for town in place.towns { townPlaces[town] = UInt32(number) }
            }
            let writer = AddressWriter(
                addresses, places: townPlaces,
                countries: townPlaces.map { places[Int($0)].countryCode }, words: .shipped)
            sections.merge(writer.sections { intern($0) }) { $1 }
        }
        if let borders { sections.merge(borders.sections(numbers)) { $1 } }
        let origins = OriginWriter(sources: sources, sets: addresses.origins.sets)
        sections.merge(
            origins.sections(places: places, streets: addresses.streets) { intern($0) }
        ) { $1 }
        sections.merge(try LanguageFile.sections(places) { intern($0) }) { $1 }
        sections[.pointAddresses] = PointAddressFile.section(places) { intern($0) }
        ranking = (UInt32(truncatingIfNeeded: text.count), UInt32(rankingText.count))
        text += rankingText
        sections[.text] = text
    }

    private mutating func layOutPlaces() {
        var records = ByteWriter(capacity: places.count * 72)
        var keys = ByteWriter()
        var keyCount: UInt32 = 0
        for (index, place) in places.enumerated() {
            records.append(place.location.x)
            records.append(place.location.y)
            for delta in Self.deltas(of: place) { records.append(Float(delta).bitPattern) }
            records.append(place.population)
            records.append(place.id)
            records.append(intern(place.name))
            records.append(UInt16(place.name.utf8.count))
            records.append(place.kind.rawValue)
            records.append(place.settlement.rawValue)
            records.append(numbers[place.countryCode] ?? LocatorLayout.none)
            records.append(numbers[place.regionCode] ?? LocatorLayout.none)
            records.append(numbers[place.subregionCode] ?? LocatorLayout.none)
            records.append(place.importance)
            let placeKeys = table.placeKeys[index].prefix(Int(UInt16.max))
            records.append(UInt16(placeKeys.count))
            records.append(keyCount)
            for key in placeKeys { keys.append(key) }
            keyCount += UInt32(placeKeys.count)
        }
        sections[.places] = records.bytes
        sections[.placeKeys] = keys.bytes
    }

    /// Distances of the extent's sides from the place: west, south, east and north, in degrees.
    private static func deltas(of place: DraftPlace) -> [Double] {
        let (location, extent) = (place.location, place.extent)
        let turn =
            [0.0, 360, -360].first {
                extent.minX <= location.x + $0 && location.x + $0 <= extent.maxX
            } ?? 0
        return [
            location.x + turn - extent.minX, location.y - extent.minY,
            extent.maxX - location.x - turn, extent.maxY - location.y,
        ].map { max(0, $0) }
    }

    private mutating func layOutDivisions() {
        var countries = ByteWriter()
        var regions = ByteWriter()
        for (index, place) in places.enumerated() {
            switch place.kind {
            case .country:
                countries.append(UInt32(index))
                countries.append(Self.padded(place.codes.first ?? "", to: 2))
                countries.append(Self.padded(place.codes.dropFirst().first ?? "", to: 6))
            case .region:
                let abbreviation = place.codes.first ?? ""
                regions.append(UInt32(index))
                regions.append(intern(place.code))
                regions.append(intern(abbreviation))
                regions.append(UInt16(place.code.utf8.count))
                regions.append(UInt16(abbreviation.utf8.count))
            case .subregion, .settlement, .pointOfInterest: break
            }
        }
        sections[.countries] = countries.bytes
        sections[.regions] = regions.bytes
    }

    private mutating func layOutKeys() {
        var records = ByteWriter(capacity: (table.keys.count + 1) * 8)
        for key in table.keys {
            records.append(UInt32(truncatingIfNeeded: key.text.lowerBound))
            records.append(UInt32(key.postings.lowerBound))
        }
        records.append(UInt32(truncatingIfNeeded: table.keyText.count))
        records.append(UInt32(table.postings.count))
        sections[.keys] = records.bytes
        var postings = ByteWriter(capacity: table.postings.count * 12)
        for posting in table.postings {
            postings.append(posting.place)
            postings.append(intern(posting.text))
            postings.append(UInt16(posting.text.utf8.count))
            postings.append(posting.role.rawValue)
            postings.append(UInt8(posting.isTransliterated ? 1 : 0))
        }
        sections[.postings] = postings.bytes
    }

    private mutating func layOutWords() {
        let words = WordTable(table).words
        var records = ByteWriter(capacity: (words.count + 1) * 12)
        var postings = ByteWriter()
        var count: UInt32 = 0
        for word in words {
            records.append(UInt32(truncatingIfNeeded: word.text.lowerBound))
            records.append(UInt32(word.text.count))
            records.append(count)
            for key in word.keys { postings.append(key) }
            count += UInt32(word.keys.count)
        }
        records.append(UInt64(0))
        records.append(count)
        sections[.words] = records.bytes
        sections[.wordPostings] = postings.bytes
    }

    private mutating func layOutPoints() {
        var townOf: [Int: UInt32] = [:]
        for (number, place) in places.enumerated() {
            if let settlement = place.settlementNumber { townOf[settlement] = UInt32(number) }
        }
        var records = ByteWriter()
        for (number, place) in places.enumerated() {
            guard let point = place.point else { continue }
            records.append(UInt32(number))
            records.append(point.town.flatMap { townOf[$0] } ?? LocatorLayout.none)
            records.append(UInt32(point.category))
        }
        guard !records.bytes.isEmpty else { return }
        sections[.points] = records.bytes
        sections[.nearestPoints] = Self.tree(NearestTree(places, of: .pointOfInterest))
        var names = ByteWriter()
        for category in categories {
            names.append(intern(category))
            names.append(UInt32(category.utf8.count))
        }
        sections[.categories] = names.bytes
    }

    private static func tree(_ tree: NearestTree) -> [UInt8] {
        var writer = ByteWriter()
        for entry in tree.entries {
            writer.append(entry.vector.x)
            writer.append(entry.vector.y)
            writer.append(entry.vector.z)
            writer.append(entry.place)
            writer.append(UInt32(0))
        }
        return writer.bytes
    }

    /// The weights of the keys, then the maximum of every 16, and so on up to a single one.
    private static func weights(_ keys: [UInt16]) -> [UInt8] {
        var writer = ByteWriter(capacity: keys.count * 3)
        var level = keys
        while true {
            for weight in level { writer.append(weight) }
            guard level.count > 1 else { break }
            level = stride(from: 0, to: level.count, by: LocatorLayout.weightFanout).map { start in
                level[start..<min(start + LocatorLayout.weightFanout, level.count)].max() ?? 0
            }
        }
        return writer.bytes
    }

    private mutating func intern(_ string: String) -> UInt32 {
        if let known = textOffsets[string] { return known }
        let offset = UInt32(truncatingIfNeeded: text.count)
        text += Array(string.utf8)
        textOffsets[string] = offset
        return offset
    }

    private static func padded(_ code: String, to count: Int) -> [UInt8] {
        Array((Array(code.utf8) + [UInt8](repeating: 0, count: count)).prefix(count))
    }

    /// Header, table of sections, sections; each starts at a multiple of eight.
    private func assemble() -> [UInt8] {
        var body = ByteWriter()
        var entries = ByteWriter()
        let count = LocatorLayout.Section.allCases.count
        let headerByteCount = LocatorLayout.headerByteCount(sections: count)
        for section in LocatorLayout.Section.allCases {
            let bytes = sections[section] ?? []
            entries.append(UInt64(headerByteCount + body.bytes.count))
            entries.append(UInt64(bytes.count))
            body.append(bytes)
            let excess = bytes.count % 8
            if excess > 0 { body.append([UInt8](repeating: 0, count: 8 - excess)) }
        }
        var crc = CRC32C()
        crc.update(entries.bytes)
        crc.update(body.bytes)
        var file = ByteWriter(capacity: headerByteCount + body.bytes.count)
        file.append(LocatorLayout.magic)
        file.append(LocatorLayout.version)
        file.append(UInt32(count))
        file.append(UInt64(headerByteCount + body.bytes.count))
        file.append(crc.value)
        file.append(UInt32(places.count))
        file.append(UInt32(table.keys.count))
        file.append(ranking.offset)
        file.append(ranking.count)
        file.append([UInt8](repeating: 0, count: 16))
        // The header's own checksum, over the preceding 60 bytes.
        var headerChecksum = CRC32C()
        headerChecksum.update(file.bytes)
        file.append(headerChecksum.value)
        file.append(entries.bytes)
        file.append(body.bytes)
        return file.bytes
    }
}
