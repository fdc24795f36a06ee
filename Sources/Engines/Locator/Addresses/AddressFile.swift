// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// The streets, houses and towns of an opened, validated locator file.
///
/// The bytes are passed to each call. Every number was checked when the file was opened. A class,
/// because its table of sections is too large to be copied per street.
final class AddressFile: Sendable {
    let vocabulary: StoredNames
    let townCount: Int
    let streetCount: Int
    let houseCount: Int
    let suffixCount: Int
    let postcodeCount: Int
    let shortFormCount: Int
    let segmentCount: Int
    /// First entry of each level of rectangles; level 0 is the streets' own.
    let rectangleLevels: [Int]
    /// Number of rectangles on all levels.
    let rectangleCount: Int
    /// Byte range of every section.
    let sections: InlineArray<36, Range<Int>>

    init(sections all: [Range<Int>]) {
        // Older files lack the last sections.
        let sections = InlineArray<36, Range<Int>> {
            $0 < all.count ? all[$0] : 0..<0
        }
        self.sections = sections
        func count(_ section: LocatorLayout.Section) -> Int {
            sections[section.rawValue].count / section.recordByteCount
        }
        func start(_ section: LocatorLayout.Section) -> Int {
            sections[section.rawValue].lowerBound
        }
        vocabulary = StoredNames(
            count: count(.vocabulary) - 1, nodeCount: count(.vocabularyTree),
            textStart: start(.vocabularyText), recordStart: start(.vocabulary),
            treeStart: start(.vocabularyTree), endingsStart: start(.vocabularyEndings))
        townCount = count(.towns) - 1
        streetCount = count(.streets) - 1
        houseCount = count(.houses)
        suffixCount = count(.suffixes)
        postcodeCount = count(.postcodes) - 1
        shortFormCount = count(.shortForms) - 1
        segmentCount = max(0, count(.segments) - 1)
        var levels = [0]
        var (width, total) = (streetCount, streetCount)
        while width > 1 {
            levels.append(total)
            width = (width + LocatorLayout.rectangleFanout - 1) / LocatorLayout.rectangleFanout
            total += width
        }
        rectangleLevels = levels
        rectangleCount = total
    }

    /// Byte offset of a record in a section.
    @inline(__always)
    func offset(_ section: LocatorLayout.Section, _ record: Int = 0) -> Int {
        sections[section.rawValue].lowerBound + record * section.recordByteCount
    }

    @inline(__always)
    func number(_ section: LocatorLayout.Section, _ record: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: sections[section.rawValue].lowerBound + 4 * record))
    }

    // MARK: Words

    func kind(ofWord word: Int, _ bytes: RawSpan) -> AddressWordKind {
        AddressWordKind(rawValue: bytes.byte(at: offset(.wordKinds, word))) ?? .plain
    }

    /// The posting list of a word in the index of streets.
    func streetPostings(_ word: Int, _ bytes: RawSpan) -> Range<Int> {
        vocabulary.postings(word, bytes)
    }

    func street(atPosting entry: Int, _ bytes: RawSpan) -> Int {
        number(.streetPostings, entry, bytes)
    }

    /// The posting list of a word in the index of towns.
    func townPostings(_ word: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.townPostingStarts, word, bytes)..<number(.townPostingStarts, word + 1, bytes)
    }

    func town(atPosting entry: Int, _ bytes: RawSpan) -> Int {
        number(.townPostings, entry, bytes)
    }

    /// The word at an entry of ``words(ofStreet:_:)`` or ``words(ofTown:_:)``.
    @inline(__always)
    func word(at entry: Int, _ bytes: RawSpan) -> Int { number(.nameWords, entry, bytes) }

    /// The words of the vocabulary that a variant stands for.
    func longForms(of word: ArraySlice<UInt8>, _ bytes: RawSpan) -> [Int] {
        guard let found = find(word, .shortForms, shortFormCount, bytes) else { return [] }
        let at = offset(.shortForms, found) + 8
        return (Int(bytes.uint32(at: at))..<Int(bytes.uint32(at: at + 12))).map {
            number(.longForms, $0, bytes)
        }
    }

    /// The record with a given folded text, in a sorted section.
    private func find(
        _ wanted: ArraySlice<UInt8>, _ section: LocatorLayout.Section, _ count: Int,
        _ bytes: RawSpan
    ) -> Int? {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let text = textRange(section, middle, bytes)
            switch Self.compare(text, wanted, bytes) {
            case 0: return middle
            case ..<0: range = middle + 1..<range.upperBound
            default: range = range.lowerBound..<middle
            }
        }
        return nil
    }

    /// Compares two texts bytewise, ignoring ASCII case and blanks.
    static func compare(
        _ stored: Range<Int>, _ wanted: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> Int {
        var wanted = wanted.makeIterator()
        for at in stored {
            var byte = bytes.byte(at: at)
            // Blanks, `-`, and `/` as in `1/2`.
            if byte == 0x20 || byte == 0x2D || byte == 0x2F { continue }
            if 0x41...0x5A ~= byte { byte |= 0x20 }
            guard let other = wanted.next() else { return 1 }
            if byte != other { return byte < other ? -1 : 1 }
        }
        return wanted.next() == nil ? 0 : -1
    }

    /// The byte range of the text of a record that begins with its offset and length.
    private func textRange(
        _ section: LocatorLayout.Section, _ record: Int, _ bytes: RawSpan
    ) -> Range<Int> {
        let at = offset(section, record)
        let start = offset(.text) + Int(bytes.uint32(at: at))
        return start..<start + Int(bytes.uint32(at: at + 4))
    }

    private func string(
        _ section: LocatorLayout.Section, _ record: Int, _ bytes: RawSpan
    ) -> String {
        String(decoding: bytes.copy(textRange(section, record, bytes)), as: UTF8.self)
    }

    // MARK: Towns

    func place(ofTown town: Int, _ bytes: RawSpan) -> Int { number(.towns, 3 * town, bytes) }

    func streets(ofTown town: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.towns, 3 * town + 1, bytes)..<number(.towns, 3 * town + 4, bytes)
    }

    func words(ofTown town: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.towns, 3 * town + 2, bytes)..<number(.towns, 3 * town + 5, bytes)
    }

    // MARK: Streets

    func name(ofStreet street: Int, _ bytes: RawSpan) -> String { string(.streets, street, bytes) }

    func town(ofStreet street: Int, _ bytes: RawSpan) -> Int {
        number(.streets, 8 * street + 2, bytes)
    }

    /// Nil for none.
    func postcode(ofStreet street: Int, _ bytes: RawSpan) -> Int? {
        let code = number(.streets, 8 * street + 3, bytes)
        return code == Int(LocatorLayout.none) ? nil : code
    }

    func houses(ofStreet street: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.streets, 8 * street + 4, bytes)..<number(.streets, 8 * street + 12, bytes)
    }

    func words(ofStreet street: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.streets, 8 * street + 5, bytes)..<number(.streets, 8 * street + 13, bytes)
    }

    /// The representative location of a street.
    func location(ofStreet street: Int, _ bytes: RawSpan) -> Coordinate {
        position(at: offset(.streets, street) + 24, bytes)
    }

    /// The street of a house.
    func street(ofHouse house: Int, _ bytes: RawSpan) -> Int {
        var range = 0..<streetCount
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            if number(.streets, 8 * middle + 4, bytes) <= house {
                range = middle..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    // MARK: Houses

    func number(ofHouse house: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: offset(.houses, house)) >> 12)
    }

    func suffix(ofHouse house: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: offset(.houses, house)) & 0xFFF)
    }

    /// The text of a suffix as in the source; empty for most houses.
    func suffixText(_ suffix: Int, _ bytes: RawSpan) -> String { string(.suffixes, suffix, bytes) }

    /// Whether a suffix equals a folded one, ignoring blanks and hyphens.
    func suffix(_ suffix: Int, is wanted: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
        Self.compare(textRange(.suffixes, suffix, bytes), wanted, bytes) == 0
    }

    func location(ofHouse house: Int, _ bytes: RawSpan) -> Coordinate {
        position(at: offset(.houses, house) + 4, bytes)
    }

    /// The houses of a street with a given number.
    func houses(_ wanted: Int, ofStreet street: Int, _ bytes: RawSpan) -> Range<Int> {
        let all = houses(ofStreet: street, bytes)
        var range = all
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if number(ofHouse: middle, bytes) < wanted {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        var end = range.lowerBound
        while end < all.upperBound, number(ofHouse: end, bytes) == wanted { end += 1 }
        return range.lowerBound..<end
    }

    func position(at offset: Int, _ bytes: RawSpan) -> Coordinate {
        Coordinate(
            x: Double(Int32(bitPattern: bytes.uint32(at: offset))) / 1e7,
            y: Double(Int32(bitPattern: bytes.uint32(at: offset + 4))) / 1e7)
    }

    // MARK: Postcodes

    /// The postcode with a folded text without blanks.
    func postcode(_ text: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        find(text, .postcodes, postcodeCount, bytes)
    }

    func text(ofPostcode postcode: Int, _ bytes: RawSpan) -> String {
        string(.postcodes, postcode, bytes)
    }

    /// The posting list of a postcode in the index of streets.
    func streetEntries(ofPostcode postcode: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.postcodes, 3 * postcode + 2, bytes)..<number(.postcodes, 3 * postcode + 5, bytes)
    }

    func street(atPostcodeEntry entry: Int, _ bytes: RawSpan) -> Int {
        number(.postcodeStreets, entry, bytes)
    }

    // MARK: Rectangles

    /// West, south, east, north in 1e-7 degrees.
    func rectangle(_ entry: Int, _ bytes: RawSpan) -> (Int32, Int32, Int32, Int32) {
        let at = offset(.streetRectangles, entry)
        func side(_ number: Int) -> Int32 { Int32(bitPattern: bytes.uint32(at: at + 4 * number)) }
        return (side(0), side(1), side(2), side(3))
    }

    func street(atOrder entry: Int, _ bytes: RawSpan) -> Int {
        number(.streetOrder, entry, bytes)
    }
}
