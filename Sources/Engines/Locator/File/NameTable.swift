// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Every name of every place, folded, sorted and merged: the source of the text index.
struct NameTable {
    /// One name of one place.
    struct Posting: Hashable {
        var place: UInt32
        var role: NameRole
        /// The display text of the name.
        var text: String
        /// Whether the key is a romanisation of the name.
        var isTransliterated = false
    }

    /// A folded name.
    struct Key {
        /// Byte range in `keyText`.
        var text: Range<Int>
        /// Range of its postings in `postings`.
        var postings: Range<Int>
        /// The greatest weight of its postings.
        var weight: UInt16
    }

    private(set) var keyText: [UInt8] = []
    private(set) var keys: [Key] = []
    private(set) var postings: [Posting] = []
    /// The keys of every place, ascending, without romanisations.
    private(set) var placeKeys: [[UInt32]]

    /// An unsorted name.
    private struct Entry {
        /// The first eight bytes, big-endian, which decide most comparisons.
        var head: UInt64
        var bytes: [UInt8]
        var posting: Posting
    }

    /// Limit of a folded name in bytes; a place's own name is exempt.
    static let longestAlternate = 120

    init(_ places: [DraftPlace], _ ranking: Ranking) {
        placeKeys = Array(repeating: [], count: places.count)
        var entries: [Entry] = []
        for (index, place) in places.enumerated() {
            for (bytes, posting) in Self.names(of: place, index: UInt32(index)) {
                let head = bytes.prefix(8).enumerated().reduce(UInt64(0)) {
                    $0 | UInt64($1.element) << UInt64(56 - 8 * $1.offset)
                }
                entries.append(Entry(head: head, bytes: bytes, posting: posting))
            }
        }
        entries.sort { left, right in
            if left.head != right.head { return left.head < right.head }
            if left.bytes != right.bytes {
                return left.bytes.lexicographicallyPrecedes(right.bytes)
            }
            return left.posting.place < right.posting.place
        }
        join(entries, places: places, ranking)
    }

    private mutating func join(
        _ entries: [Entry], places: [DraftPlace], _ ranking: Ranking
    ) {
        var start = 0
        while start < entries.count {
            var end = start
            let first = entries[start]
            var weight: UInt16 = 0
            while end < entries.count, entries[end].head == first.head,
                entries[end].bytes == first.bytes
            {
                let posting = entries[end].posting
                let importance = places[Int(posting.place)].importance
                let penalty = Importance.quantised(
                    ranking.suggestions.penalty(posting.role, isTransliterated: false))
                if !posting.isTransliterated, posting.role != .part {
                    weight = max(weight, importance > penalty ? importance - penalty : 0)
                    placeKeys[Int(posting.place)].append(UInt32(keys.count))
                }
                postings.append(posting)
                end += 1
            }
            keys.append(
                Key(
                    text: keyText.count..<keyText.count + first.bytes.count,
                    postings: (postings.count - (end - start))..<postings.count, weight: weight))
            keyText += first.bytes
            start = end
        }
    }

    /// The folded names of a place with the best role of each.
    private static func names(of place: DraftPlace, index: UInt32) -> [([UInt8], Posting)] {
        var result: [([UInt8], Posting)] = []
        var numbers: [[UInt8]: Int] = [:]
        func add(_ bytes: [UInt8], _ role: NameRole, _ text: String) {
            guard !bytes.isEmpty else { return }
            if let number = numbers[bytes] {
                let known = result[number].1
                // Of two spellings of one name the one with diacritics is displayed: München, not
                // Munchen.
                if role.rawValue < known.role.rawValue
                    || role == known.role && Self.marks(in: text) > Self.marks(in: known.text)
                {
                    result[number].1 = Posting(place: index, role: role, text: text)
                }
                return
            }
            numbers[bytes] = result.count
            result.append((bytes, Posting(place: index, role: role, text: text)))
        }
        func addWritings(of text: String, _ role: NameRole, shown: String) {
            let folded = Folder.fold(text)
            guard role == .name || folded.bytes.count <= longestAlternate else { return }
            add(folded.bytes, role, shown)
            let other = role == .name ? NameRole.variant : role
            for writing in otherWritings(of: folded) { add(writing, other, shown) }
            add(Folder.fold(text, expandingUmlauts: true).bytes, other, shown)
        }
        addWritings(of: place.name, .name, shown: place.name)
        addWritings(of: place.asciiName, .variant, shown: place.name)
        // New York for New York City: the usual short form, where the source has it.
        let own = Folder.fold(place.name)
        let short = Self.withoutCity(own)
        let common = Self.commonNames(of: place)
        for name in place.alternateNames where !name.contains("://") {
            let folded = Folder.fold(name)
            if let short, folded.bytes == short { add(short, .variant, place.name) }
            var role = Self.role(of: name, folded, beside: own)
            if role == .alternate, common.contains(folded.bytes) { role = .cognate }
            addWritings(of: name, role, shown: name)
        }
        if place.kind == .pointOfInterest {
            // `Thyssen` of `Museu Thyssen`: the word for museum may be another in the text, or
            // missing.
            for name in [place.name] + place.alternateNames where !name.contains("://") {
                let folded = Folder.fold(name)
                if let alone = PointKinds.shipped.nameAlone(folded, category: place.categoryName) {
                    add(alone, .variant, place.name)
                }
            }
        }
        if place.kind == .subregion, let short = Self.withCounty(Folder.fold(place.name)) {
            add(short, .variant, place.name)
        }
        for name in place.partNames {
            let folded = Folder.fold(name)
            guard folded.bytes.count <= longestAlternate else { continue }
            add(folded.bytes, .part, name)
            if let short = Self.withCounty(folded) { add(short, .part, name) }
        }
        for code in place.codes { add(Folder.fold(code).bytes, .code, place.name) }
        for name in [place.name] + place.alternateNames where !name.contains("://") {
            for key in LatinWriting.keys(name, country: place.countryCode)
            where !key.isEmpty && key.count <= longestAlternate && numbers[key] == nil {
                numbers[key] = result.count
                result.append(
                    (
                        key,
                        Posting(place: index, role: .alternate, text: name, isTransliterated: true)
                    ))
            }
        }
        return result
    }

    /// The role of an alternate name: three capitals are an airport's code, and the same first
    /// three letters make a cognate.
    private static func role(
        of name: String, _ folded: FoldedText, beside own: FoldedText
    ) -> NameRole {
        if name.utf8.count == 3, name.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) { return .code }
        guard let first = folded.words.first, let second = own.words.first else {
            return .alternate
        }
        let letters = String(decoding: folded.bytes[first], as: UTF8.self).unicodeScalars.prefix(3)
        let others = String(decoding: own.bytes[second], as: UTF8.self).unicodeScalars.prefix(3)
        return letters.count > 1 && letters.elementsEqual(others) ? .cognate : .alternate
    }

    /// The folded alternate names of a place that several of its names equal, up to one letter.
    ///
    /// For example `Medina` beside `Médine`, `Medyna`, and `Medina` in five languages. In Latin
    /// letters only: elsewhere a letter may be half a name.
    private static func commonNames(of place: DraftPlace) -> Set<[UInt8]> {
        var names = place.alternateNames.prefix(mostCompared).map { Folder.fold($0).bytes }
        names += place.languageNames.prefix(mostCompared).map { Folder.fold($0.name).bytes }
        names.removeAll { name in
            !(shortestCommon...longestCommon ~= name.count) || name.contains { $0 >= 0x80 }
        }
        guard names.count >= leastLike else { return [] }
        var result: Set<[UInt8]> = []
        for name in names where !result.contains(name) {
            let like = names.count {
                abs($0.count - name.count) <= 1 && $0.first == name.first
                    && ($0 == name || TypoSearch.errors(name[...], $0[...], limit: 1) != nil)
            }
            if like >= leastLike { result.insert(name) }
        }
        return result
    }

    /// Number of similar names, itself included, that make a name common.
    private static let leastLike = 4
    private static let shortestCommon = 4
    private static let longestCommon = 40
    private static let mostCompared = 200

    private static func marks(in text: String) -> Int { text.utf8.count { $0 >= 0xC0 } }

    /// The name without a last word `city`; nil without one.
    private static func withoutCity(_ name: FoldedText) -> [UInt8]? {
        guard name.words.count > 1, let last = name.words.last,
            name.bytes[last].elementsEqual("city".utf8)
        else { return nil }
        return Array(name.bytes[..<(last.lowerBound - 1)])
    }

    /// `orange co` for `orange county`; nil for any other name.
    private static func withCounty(_ name: FoldedText) -> [UInt8]? {
        guard name.words.count > 1, let last = name.words.last,
            name.bytes[last].elementsEqual("county".utf8)
        else { return nil }
        return Array(name.bytes[..<last.lowerBound]) + Array("co".utf8)
    }

    /// Abbreviations with their long forms, which are interchangeable.
    private static let shortForms: [([UInt8], [UInt8])] = [
        ("saint", "st"), ("sankt", "st"), ("sainte", "ste"), ("fort", "ft"), ("mount", "mt"),
        ("santa", "sta"), ("santo", "sto"), ("ciudad", "cd"), ("puerto", "pto"),
        ("general", "gral"), ("north", "n"), ("south", "s"), ("east", "e"), ("west", "w"),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }

    /// The name with abbreviations expanded, and the reverse.
    private static func otherWritings(of name: FoldedText) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for (long, short) in shortForms {
            for (number, word) in name.words.enumerated() where name.words.count > 1 {
                let bytes = name.bytes[word]
                let replacement =
                    bytes.elementsEqual(long) ? short : bytes.elementsEqual(short) ? long : nil
                guard let replacement, number < name.words.count - 1 || replacement == long
                else { continue }
                result.append(
                    Array(name.bytes[..<word.lowerBound]) + replacement
                        + Array(name.bytes[word.upperBound...]))
            }
        }
        return result
    }
}
