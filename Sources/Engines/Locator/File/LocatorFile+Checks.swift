// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

extension LocatorFile {
    /// Validates the whole file once: form, checksums, and every offset and index.
    ///
    /// Throws `Failure`: `newerVersion`, or `corrupt` with the path and the error.
    init(checking bytes: RawSpan, path: String) throws(Failure) {
        func corrupt(_ what: String) -> Failure {
            Failure(.corrupt, "locator file '\(path)': \(what)")
        }
        let sections: [Range<Int>]
        do {
            sections = try Self.sections(of: bytes)
        } catch {
            if let version = error.version {
                throw Failure(
                    .newerVersion,
                    "locator file '\(path)' has version \(version); this build reads version "
                        + "\(LocatorLayout.version)")
            }
            throw corrupt(error.what)
        }
        let keyRecords = sections[LocatorLayout.Section.keys.rawValue].count / 8
        let wordRecords = sections[LocatorLayout.Section.words.rawValue].count / 12
        guard keyRecords > 0, wordRecords > 0 else { throw corrupt("it has no names") }
        var levels = [0]
        var (width, total) = (keyRecords - 1, keyRecords - 1)
        while width > 1 {
            levels.append(total)
            width = (width + LocatorLayout.weightFanout - 1) / LocatorLayout.weightFanout
            total += width
        }
        guard sections[LocatorLayout.Section.weights.rawValue].count == total * 2 else {
            throw corrupt("the weights do not match the names")
        }
        let ranking: Ranking
        do throws(Failure) {
            ranking = try Self.ranking(bytes, text: sections[LocatorLayout.Section.text.rawValue])
        } catch {
            throw corrupt(error.message)
        }
        let borders: BorderFile?
        do {
            borders = try BorderFile(checking: bytes, sections)
        } catch {
            throw corrupt(error.what)
        }
        self.init(sections: sections, weightLevels: levels, ranking: ranking, borders: borders)
        do {
            try checkPlaces(bytes, sections)
            try checkDivisions(bytes, sections)
            try checkNames(bytes, sections)
            try checkWords(bytes, sections)
            try checkTrees(bytes)
            if let addresses { try addresses.check(bytes, placeCount: placeCount) }
            if let borders { try borders.check(self, bytes) }
            let textCount = sections[LocatorLayout.Section.text.rawValue].count
            try origins?.check(
                bytes, placeCount: placeCount, streetCount: addresses?.streetCount ?? 0,
                houseCount: addresses?.houseCount ?? 0)
            try languages?.check(bytes, placeCount: placeCount, textCount: textCount)
            try pointAddresses?.check(bytes, placeCount: placeCount, textCount: textCount)
            if let points {
                try points.check(
                    bytes, placeCount: placeCount, textCount: textCount
                ) { kind($0, bytes) }
            }
        } catch {
            throw corrupt(error.what)
        }
    }

    /// The error of a corrupt file.
    struct Damage: Error {
        var what: String
        var version: UInt32?
        init(_ what: String, version: UInt32? = nil) {
            self.what = what
            self.version = version
        }
    }

    private static func sections(of bytes: RawSpan) throws(Damage) -> [Range<Int>] {
        var header = LocatorLayout.headerByteCount(sections: LocatorLayout.placeSectionCount)
        guard bytes.byteCount >= header else { throw Damage("it is shorter than its header") }
        guard bytes.copy(0..<8) == LocatorLayout.magic else {
            throw Damage("it does not begin with 'CRNLOCTR'")
        }
        let version = bytes.uint32(at: 8)
        guard version <= LocatorLayout.version else { throw Damage("", version: version) }
        var crc = CRC32C()
        crc.update(bytes.extracting(0..<60))
        guard version >= 1, crc.value == bytes.uint32(at: 60) else {
            throw Damage("the header's checksum is wrong")
        }
        guard bytes.uint64(at: 16) == UInt64(bytes.byteCount) else {
            throw Damage(
                "it has \(bytes.byteCount) bytes; its header says \(bytes.uint64(at: 16))")
        }
        crc = CRC32C()
        crc.update(bytes.extracting(LocatorLayout.fixedHeaderByteCount..<bytes.byteCount))
        guard crc.value == bytes.uint32(at: 24) else { throw Damage("the checksum is wrong") }
        let count = LocatorLayout.sectionCounts[Int(version) - 1]
        header = LocatorLayout.headerByteCount(sections: count)
        guard bytes.uint32(at: 12) == UInt32(count), bytes.byteCount >= header else {
            throw Damage("it has \(bytes.uint32(at: 12)) sections; expected \(count)")
        }
        var result: [Range<Int>] = []
        var expected = header
        for section in LocatorLayout.Section.allCases.prefix(count) {
            let entry =
                LocatorLayout.fixedHeaderByteCount
                + section.rawValue * LocatorLayout.sectionEntryByteCount
            let (offset, count) = (bytes.uint64(at: entry), bytes.uint64(at: entry + 8))
            guard offset == UInt64(expected), count <= UInt64(bytes.byteCount - expected),
                count.isMultiple(of: UInt64(section.recordByteCount))
            else { throw Damage("section \(section) exceeds the file or is truncated") }
            result.append(expected..<expected + Int(count))
            expected = (expected + Int(count) + 7) & ~7
            guard expected <= bytes.byteCount else {
                throw Damage("section \(section) is not padded")
            }
        }
        guard expected == bytes.byteCount else { throw Damage("bytes follow the last section") }
        return result
    }

    /// The model in the file; the default one where the file has none.
    private static func ranking(
        _ bytes: RawSpan, text: Range<Int>
    ) throws(Failure) -> Ranking {
        let (start, count) = (Int(bytes.uint32(at: 36)), Int(bytes.uint32(at: 40)))
        if count == 0 { return try .reading(Ranking.shippedText, source: "ranking.json") }
        guard start + count <= text.count else {
            throw Failure(.corrupt, "its ranking exceeds the section of texts")
        }
        let at = text.lowerBound + start
        return try .carried(bytes.copy(at..<at + count))
    }

    private func checkPlaces(_ bytes: RawSpan, _ sections: [Range<Int>]) throws(Damage) {
        let textCount = sections[LocatorLayout.Section.text.rawValue].count
        let placeKeyCount = sections[LocatorLayout.Section.placeKeys.rawValue].count / 4
        guard Int(bytes.uint32(at: 28)) == placeCount, Int(bytes.uint32(at: 32)) == keyCount else {
            throw Damage("the counts of the header and the sections differ")
        }
        for place in 0..<placeCount {
            let at = offset(.places, place)
            let location = location(place, bytes)
            var isSound =
                abs(location.x) <= 180 && abs(location.y) <= 90
                && PlaceKind(rawValue: bytes.byte(at: at + 50)) != nil
                && SettlementKind(rawValue: bytes.byte(at: at + 51)) != nil
                && Int(bytes.uint32(at: at + 44)) + Int(bytes.uint16(at: at + 48)) <= textCount
                && Int(bytes.uint32(at: at + 68)) + Int(bytes.uint16(at: at + 66)) <= placeKeyCount
            for field in [16, 20, 24, 28] {
                let delta = Float(bitPattern: bytes.uint32(at: at + field))
                isSound = isSound && delta >= 0 && delta <= 720
            }
            for field in [52, 56, 60] {
                let container = bytes.uint32(at: at + field)
                isSound = isSound && (container == LocatorLayout.none || container < placeCount)
            }
            guard isSound else { throw Damage("place \(place) is invalid") }
        }
        for number in 0..<placeKeyCount
        where Int(bytes.uint32(at: offset(.placeKeys, number))) >= keyCount {
            throw Damage("a place has a name that does not exist")
        }
    }

    private func checkDivisions(_ bytes: RawSpan, _ sections: [Range<Int>]) throws(Damage) {
        let textCount = sections[LocatorLayout.Section.text.rawValue].count
        for number in 0..<regionCount {
            let at = offset(.regions, number)
            guard Int(bytes.uint32(at: at + 4)) + Int(bytes.uint16(at: at + 12)) <= textCount,
                Int(bytes.uint32(at: at + 8)) + Int(bytes.uint16(at: at + 14)) <= textCount
            else { throw Damage("region \(number) is invalid") }
        }
    }

    private func checkNames(_ bytes: RawSpan, _ sections: [Range<Int>]) throws(Damage) {
        let keyByteCount = sections[LocatorLayout.Section.keyText.rawValue].count
        let textCount = sections[LocatorLayout.Section.text.rawValue].count
        var last: (text: UInt32, postings: UInt32) = (0, 0)
        for key in 0...keyCount {
            let at = offset(.keys, key)
            let next = (text: bytes.uint32(at: at), postings: bytes.uint32(at: at + 4))
            guard next.text >= last.text, next.postings >= last.postings,
                key == 0 || next.text > last.text
            else { throw Damage("name \(key) is invalid") }
            last = next
        }
        guard Int(last.text) <= keyByteCount, Int(last.postings) <= postingCount else {
            throw Damage("the names end outside their section")
        }
        for number in 0..<postingCount {
            let at = offset(.postings, number)
            guard Int(bytes.uint32(at: at)) < placeCount,
                Int(bytes.uint32(at: at + 4)) + Int(bytes.uint16(at: at + 8)) <= textCount,
                NameRole(rawValue: bytes.byte(at: at + 10)) != nil,
                bytes.byte(at: at + 11) <= 1
            else { throw Damage("name record \(number) is invalid") }
        }
    }

    private func checkWords(_ bytes: RawSpan, _ sections: [Range<Int>]) throws(Damage) {
        let keyByteCount = sections[LocatorLayout.Section.keyText.rawValue].count
        let postingCount = sections[LocatorLayout.Section.wordPostings.rawValue].count / 4
        var last: UInt32 = 0
        for word in 0...wordCount {
            let at = offset(.words, word)
            let next = bytes.uint32(at: at + 8)
            guard Int(bytes.uint32(at: at)) + Int(bytes.uint32(at: at + 4)) <= keyByteCount,
                next >= last, Int(next) <= postingCount
            else { throw Damage("word \(word) is invalid") }
            last = next
        }
        for number in 0..<postingCount where key(atWordPosting: number, bytes) >= keyCount {
            throw Damage("a word belongs to a name that does not exist")
        }
    }

    private func checkTrees(_ bytes: RawSpan) throws(Damage) {
        guard endingCount == keyCount else { throw Damage("the endings do not match the names") }
        guard names.isTreeSound(bytes) else { throw Damage("the tree of names is invalid") }
        guard nearest.arePlaces(below: placeCount, bytes) else {
            throw Damage("the tree of positions names a place that does not exist")
        }
    }
}
