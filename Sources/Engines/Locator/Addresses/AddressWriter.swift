// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// Encodes streets, houses and towns as sections of the locator file.
struct AddressWriter {
    private let addresses: AddressGazetteer
    /// The place of each town.
    private let places: [UInt32]
    private let words: AddressWords
    private var vocabulary: [[UInt8]] = []
    /// Dictionaries by word: those of the countries with the word in streets or towns.
    private var choices: [AddressWords.Choice] = []
    private var wordNumbers: [[UInt8]: UInt32] = [:]
    private var postcodes: [(folded: [UInt8], text: String)] = []
    private var postcodeNumbers: [[UInt8]: UInt32] = [:]

    /// `places` and `countries` (alpha-2; empty when unknown) are those of the towns.
    init(
        _ addresses: AddressGazetteer, places: [UInt32], countries: [String], words: AddressWords
    ) {
        self.addresses = addresses
        self.places = places
        self.words = words
        var choiceOf: [[UInt8]: AddressWords.Choice] = [:]
        let choiceOfTown = countries.map { words.holding(in: $0) }
        for street in addresses.streets {
            for word in Self.split(street.folded) {
                choiceOf[word, default: 0] |= choiceOfTown[street.town]
            }
        }
        var listing: AddressWords.Choice = 0
        for (number, town) in addresses.towns.enumerated() {
            listing |= words.listing(countries[number])
            for word in Self.split(town.folded) {
                choiceOf[word, default: 0] |= choiceOfTown[number]
            }
        }
        // Words that are optional in texts and names.
        for (number, dictionary) in words.dictionaries.enumerated() {
            let bit = AddressWords.Choice(1) << AddressWords.Choice(number)
            guard listing & bit != 0 else { continue }
            for group in dictionary.groups where group.kind == .silent {
                if let long = group.words.first { choiceOf[long, default: 0] |= bit }
            }
        }
        vocabulary = choiceOf.keys.sorted { $0.lexicographicallyPrecedes($1) }
        choices = vocabulary.map { choiceOf[$0] ?? 0 }
        for (number, word) in vocabulary.enumerated() { wordNumbers[word] = UInt32(number) }
        var texts: [[UInt8]: String] = [:]
        for street in addresses.streets {
            let folded = Self.postcode(street.postal)
            if !folded.isEmpty, texts[folded] == nil { texts[folded] = street.postal }
        }
        postcodes = texts.map { (folded: $0.key, text: $0.value) }.sorted {
            $0.folded.lexicographicallyPrecedes($1.folded)
        }
        for (number, code) in postcodes.enumerated() {
            postcodeNumbers[code.folded] = UInt32(number)
        }
    }

    /// The key of a postcode: folded, without blanks.
    static func postcode(_ text: String) -> [UInt8] {
        Folder.fold(text).bytes.filter { $0 != UInt8(ascii: " ") }
    }

    private static func split(_ folded: [UInt8]) -> [[UInt8]] {
        folded.split(separator: UInt8(ascii: " ")).map(Array.init)
    }

    /// All sections; `intern` returns the offset of a text in the section of texts.
    func sections(
        intern: (String) -> UInt32
    ) -> [LocatorLayout.Section: [UInt8]] {
        var result: [LocatorLayout.Section: [UInt8]] = [:]
        layOutVocabulary(&result)
        layOutNames(&result, intern)
        layOutPostcodes(&result, intern)
        layOutShortForms(&result, intern)
        layOutSegments(&result)
        layOutRectangles(&result)
        var suffixes = ByteWriter()
        for suffix in addresses.suffixes {
            suffixes.append(intern(suffix))
            suffixes.append(UInt32(suffix.utf8.count))
        }
        result[.suffixes] = suffixes.bytes
        return result
    }

    private func layOutVocabulary(_ result: inout [LocatorLayout.Section: [UInt8]]) {
        var streetsOf = [[UInt32]](repeating: [], count: vocabulary.count)
        var townsOf = streetsOf
        func add(_ number: Int, _ folded: [UInt8], to lists: inout [[UInt32]]) {
            for word in Set(Self.split(folded)) {
                if let known = wordNumbers[word] { lists[Int(known)].append(UInt32(number)) }
            }
        }
        for (number, street) in addresses.streets.enumerated() {
            add(number, street.folded, to: &streetsOf)
        }
        for (number, town) in addresses.towns.enumerated() {
            add(number, town.folded, to: &townsOf)
        }
        var text: [UInt8] = []
        var ranges: [Range<Int>] = []
        var (records, starts) = (ByteWriter(), ByteWriter())
        var (streets, towns) = (ByteWriter(), ByteWriter())
        for (number, word) in vocabulary.enumerated() {
            records.append(UInt32(text.count))
            records.append(UInt32(streets.bytes.count / 4))
            starts.append(UInt32(towns.bytes.count / 4))
            ranges.append(text.count..<text.count + word.count)
            text += word
            for street in streetsOf[number] { streets.append(street) }
            for town in townsOf[number] { towns.append(town) }
        }
        records.append(UInt32(text.count))
        records.append(UInt32(streets.bytes.count / 4))
        starts.append(UInt32(towns.bytes.count / 4))
        let tree = NameTree(text: text, names: ranges).sections
        var kinds: [AddressWords.Choice: [[UInt8]: AddressWordKind]] = [:]
        for choice in Set(choices) { kinds[choice] = words.kinds(choice) }
        result[.vocabularyText] = text
        result[.vocabulary] = records.bytes
        result[.vocabularyTree] = tree.tree
        result[.vocabularyEndings] = tree.endings
        result[.wordKinds] = zip(vocabulary, choices).map { word, choice in
            (kinds[choice]?[word] ?? .plain).rawValue
        }
        result[.streetPostings] = streets.bytes
        result[.townPostingStarts] = starts.bytes
        result[.townPostings] = towns.bytes
    }

    private func layOutNames(
        _ result: inout [LocatorLayout.Section: [UInt8]], _ intern: (String) -> UInt32
    ) {
        var (streets, towns) = (ByteWriter(), ByteWriter())
        var (nameWords, houses) = (ByteWriter(), ByteWriter())
        var wordCount: UInt32 = 0
        var houseCount: UInt32 = 0
        func addWords(of folded: [UInt8]) {
            for word in Self.split(folded) {
                nameWords.append(wordNumbers[word] ?? 0)
                wordCount += 1
            }
        }
        for street in addresses.streets {
            let middle = street.middle
            streets.append(intern(street.name))
            streets.append(UInt32(street.name.utf8.count))
            streets.append(UInt32(street.town))
            streets.append(postcodeNumbers[Self.postcode(street.postal)] ?? LocatorLayout.none)
            streets.append(houseCount)
            streets.append(wordCount)
            streets.append(middle?.longitude ?? 0)
            streets.append(middle?.latitude ?? 0)
            addWords(of: street.folded)
            for house in street.houses {
                houses.append(house.number << 12 | UInt32(house.suffix))
                houses.append(house.longitude)
                houses.append(house.latitude)
            }
            houseCount += UInt32(street.houses.count)
        }
        for value in [0, 0, 0, LocatorLayout.none, houseCount, wordCount, 0, 0] {
            streets.append(value)
        }
        var first: UInt32 = 0
        for (number, town) in addresses.towns.enumerated() {
            towns.append(places[number])
            while first < addresses.streets.count, addresses.streets[Int(first)].town < number {
                first += 1
            }
            towns.append(first)
            towns.append(wordCount)
            addWords(of: town.folded)
        }
        for value in [0, UInt32(addresses.streets.count), wordCount] { towns.append(value) }
        result[.streets] = streets.bytes
        result[.towns] = towns.bytes
        result[.nameWords] = nameWords.bytes
        result[.houses] = houses.bytes
    }

    private func layOutSegments(_ result: inout [LocatorLayout.Section: [UInt8]]) {
        guard addresses.segmentCount > 0 else { return }
        var (starts, segments, vertices) = (ByteWriter(), ByteWriter(), ByteWriter())
        var (segmentCount, vertexCount) = (UInt32(0), UInt32(0))
        for street in addresses.streets {
            starts.append(segmentCount)
            for segment in street.segments {
                segments.append(vertexCount)
                for range in [segment.left, segment.right] {
                    segments.append(range?.from ?? 0)
                    segments.append(range?.to ?? 0)
                }
                segments.append(
                    UInt32(segment.left?.parity.rawValue ?? 0)
                        | UInt32(segment.right?.parity.rawValue ?? 0) << 8
                        | UInt32(max(segment.left?.step ?? 0, segment.right?.step ?? 0)) << 16)
                for vertex in segment.line {
                    vertices.append(vertex.longitude)
                    vertices.append(vertex.latitude)
                }
                vertexCount += UInt32(segment.line.count)
            }
            segmentCount += UInt32(street.segments.count)
        }
        starts.append(segmentCount)
        for value in [vertexCount, 0, 0, 0, 0, 0] { segments.append(value) }
        result[.segmentStarts] = starts.bytes
        result[.segments] = segments.bytes
        result[.vertices] = vertices.bytes
    }

    private func layOutPostcodes(
        _ result: inout [LocatorLayout.Section: [UInt8]], _ intern: (String) -> UInt32
    ) {
        var streetsOf = [[UInt32]](repeating: [], count: postcodes.count)
        for (number, street) in addresses.streets.enumerated() {
            if let code = postcodeNumbers[Self.postcode(street.postal)] {
                streetsOf[Int(code)].append(UInt32(number))
            }
        }
        var (records, streets) = (ByteWriter(), ByteWriter())
        var count: UInt32 = 0
        for (code, list) in zip(postcodes, streetsOf) {
            records.append(intern(code.text))
            records.append(UInt32(code.text.utf8.count))
            records.append(count)
            for street in list { streets.append(street) }
            count += UInt32(list.count)
        }
        for value in [0, 0, count] { records.append(value) }
        result[.postcodes] = records.bytes
        result[.postcodeStreets] = streets.bytes
    }

    private func layOutShortForms(
        _ result: inout [LocatorLayout.Section: [UInt8]], _ intern: (String) -> UInt32
    ) {
        var longOf = spelledOut()
        for (number, dictionary) in words.dictionaries.enumerated() {
            let bit = AddressWords.Choice(1) << AddressWords.Choice(number)
            for group in dictionary.groups {
                for other in group.words {
                    guard let known = wordNumbers[other], choices[Int(known)] & bit != 0 else {
                        continue
                    }
                    for word in group.words where other != word {
                        longOf[word, default: []].insert(known)
                        if let digits = words.digitsOfOrdinal(word[...]) {
                            longOf[Array(digits), default: []].insert(known)
                        }
                    }
                }
            }
        }
        // A number stands for its ordinals: `59` for `59th`.
        for (word, known) in wordNumbers {
            if let digits = words.digitsOfOrdinal(word[...]) {
                longOf[Array(digits), default: []].insert(known)
            }
        }
        var (records, longs) = (ByteWriter(), ByteWriter())
        var count: UInt32 = 0
        for (word, list) in longOf.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let text = String(decoding: word, as: UTF8.self)
            records.append(intern(text))
            records.append(UInt32(word.count))
            records.append(count)
            for long in list.sorted() { longs.append(long) }
            count += UInt32(list.count)
        }
        for value in [0, 0, count] { records.append(value) }
        result[.shortForms] = records.bytes
        result[.longForms] = longs.bytes
    }

    /// Transliterations with `ae oe ue oe aa` for `ä ö ü ø å`, and the words they stand for.
    private func spelledOut() -> [[UInt8]: Set<UInt32>] {
        var result: [[UInt8]: Set<UInt32>] = [:]
        for (name, folded) in addresses.streets.map({ ($0.name, $0.folded) })
            + addresses.towns.map({ ($0.name, $0.folded) })
        where !name.utf8.allSatisfy({ $0 < 0x80 }) {
            let spelled = String(name.flatMap { "åÅ".contains($0) ? Array("aa") : [$0] })
            let words = Self.split(
                Folder.fold(spelled, expandingUmlauts: true, partingApostrophes: true).bytes)
            let own = Self.split(folded)
            guard words.count == own.count else { continue }
            for (word, other) in zip(words, own) where word != other {
                if let known = wordNumbers[other] { result[word, default: []].insert(known) }
            }
        }
        return result
    }

    private func layOutRectangles(_ result: inout [LocatorLayout.Section: [UInt8]]) {
        var curve: [(key: UInt64, number: UInt32)] = []
        for (number, street) in addresses.streets.enumerated() {
            let middle = street.middle
            let key = Self.interleaved(middle?.longitude ?? 0, middle?.latitude ?? 0)
            curve.append((key, UInt32(number)))
        }
        curve.sort { ($0.key, $0.number) < ($1.key, $1.number) }
        var order = ByteWriter()
        var level: [[Int32]] = []
        for entry in curve {
            order.append(entry.number)
            let street = addresses.streets[Int(entry.number)]
            // A street without houses and lines has its representative position only.
            let points = street.houses + street.segments.flatMap(\.line)
            level.append(
                Self.rectangle(of: points.isEmpty ? [street.middle].compactMap(\.self) : points))
        }
        var rectangles = ByteWriter()
        while true {
            for rectangle in level { for side in rectangle { rectangles.append(side) } }
            guard level.count > 1 else { break }
            level = Self.enclosing(level)
        }
        result[.streetRectangles] = rectangles.bytes
        result[.streetOrder] = order.bytes
    }

    /// The next level: a rectangle around each group of entries.
    private static func enclosing(_ level: [[Int32]]) -> [[Int32]] {
        var result: [[Int32]] = []
        for (number, rectangle) in level.enumerated() {
            if number.isMultiple(of: LocatorLayout.rectangleFanout) { result.append(nothing) }
            let last = result.count - 1
            for side in 0..<2 { result[last][side] = min(result[last][side], rectangle[side]) }
            for side in 2..<4 { result[last][side] = max(result[last][side], rectangle[side]) }
        }
        return result
    }

    private static let nothing: [Int32] = [.max, .max, .min, .min]

    /// The bounding box: west, south, east, north.
    private static func rectangle(of houses: [DraftHouse]) -> [Int32] {
        var result = nothing
        for house in houses {
            result[0] = min(result[0], house.longitude)
            result[1] = min(result[1], house.latitude)
            result[2] = max(result[2], house.longitude)
            result[3] = max(result[3], house.latitude)
        }
        return result
    }

    /// The index of a position along the Z-order curve.
    private static func interleaved(_ x: Int32, _ y: Int32) -> UInt64 {
        func spread(_ value: Int32) -> UInt64 {
            var bits = UInt64(UInt32(bitPattern: value) ^ 0x8000_0000)
            let steps: [(shift: UInt64, mask: UInt64)] = [
                (16, 0x0000_FFFF_0000_FFFF), (8, 0x00FF_00FF_00FF_00FF),
                (4, 0x0F0F_0F0F_0F0F_0F0F), (2, 0x3333_3333_3333_3333),
                (1, 0x5555_5555_5555_5555),
            ]
            for step in steps { bits = (bits | bits << step.shift) & step.mask }
            return bits
        }
        return spread(x) | spread(y) << 1
    }
}
