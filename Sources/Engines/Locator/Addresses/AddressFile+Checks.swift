// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

extension AddressFile {
    /// Checks every offset and index.
    func check(_ bytes: RawSpan, placeCount: Int) throws(LocatorFile.Damage) {
        guard vocabulary.count >= 0, townCount >= 0, streetCount >= 0, postcodeCount >= 0,
            shortFormCount >= 0, count(.townPostingStarts) == vocabulary.count + 1,
            count(.wordKinds) == vocabulary.count, count(.vocabularyEndings) == vocabulary.count,
            count(.streetOrder) == streetCount
        else { throw LocatorFile.Damage("the sections of addresses do not match each other") }
        try ascends(.vocabulary, field: 0, upTo: count(.vocabularyText), strictly: true, bytes)
        try ascends(.vocabulary, field: 1, upTo: count(.streetPostings), bytes)
        try ascends(.townPostingStarts, field: 0, upTo: count(.townPostings), bytes)
        guard vocabulary.isTreeSound(bytes) else {
            throw LocatorFile.Damage("the tree of the vocabulary is invalid")
        }
        try all(.streetPostings, areBelow: streetCount, bytes)
        try all(.townPostings, areBelow: townCount, bytes)
        try all(.nameWords, areBelow: vocabulary.count, bytes)
        try all(.postcodeStreets, areBelow: streetCount, bytes)
        try all(.longForms, areBelow: vocabulary.count, bytes)
        try all(.streetOrder, areBelow: streetCount, bytes)
        try ascends(.towns, field: 1, upTo: streetCount, bytes)
        try ascends(.towns, field: 2, upTo: count(.nameWords), bytes)
        try ascends(.streets, field: 4, upTo: houseCount, bytes)
        try ascends(.streets, field: 5, upTo: count(.nameWords), bytes)
        try ascends(.postcodes, field: 2, upTo: count(.postcodeStreets), bytes)
        try ascends(.shortForms, field: 2, upTo: count(.longForms), bytes)
        for section in [LocatorLayout.Section.streets, .postcodes, .shortForms, .suffixes] {
            try textsLieInside(section, bytes)
        }
        for town in 0..<townCount where place(ofTown: town, bytes) >= placeCount {
            throw LocatorFile.Damage("town \(town) is a place that does not exist")
        }
        try checkStreets(bytes)
        try checkSegments(bytes)
        guard count(.streetRectangles) == rectangleCount else {
            throw LocatorFile.Damage("the rectangles do not match the streets")
        }
    }

    private func count(_ section: LocatorLayout.Section) -> Int {
        sections[section.rawValue].count / section.recordByteCount
    }

    private func checkStreets(_ bytes: RawSpan) throws(LocatorFile.Damage) {
        for street in 0..<streetCount {
            let code = postcode(ofStreet: street, bytes)
            let location = location(ofStreet: street, bytes)
            guard town(ofStreet: street, bytes) < townCount, code ?? -1 < postcodeCount,
                abs(location.x) <= 180, abs(location.y) <= 90
            else { throw LocatorFile.Damage("street \(street) is invalid") }
        }
        for house in 0..<houseCount {
            let location = location(ofHouse: house, bytes)
            guard suffix(ofHouse: house, bytes) < suffixCount, abs(location.x) <= 180,
                abs(location.y) <= 90
            else { throw LocatorFile.Damage("house \(house) is invalid") }
        }
    }

    private func checkSegments(_ bytes: RawSpan) throws(LocatorFile.Damage) {
        guard count(.segmentStarts) > 0 || count(.segments) > 0 || count(.vertices) > 0 else {
            return
        }
        guard count(.segmentStarts) == streetCount + 1, count(.segments) > 0 else {
            throw LocatorFile.Damage("the segments do not match the streets")
        }
        try ascends(.segmentStarts, field: 0, upTo: segmentCount, bytes)
        try ascends(.segments, field: 0, upTo: count(.vertices), strictly: true, bytes)
        for segment in 0..<segmentCount {
            let kinds = bytes.uint32(at: offset(.segments, segment) + 20)
            guard vertices(ofSegment: segment, bytes).count >= 2, kinds & 0xFF <= 3,
                kinds >> 8 & 0xFF <= 3
            else { throw LocatorFile.Damage("segment \(segment) is invalid") }
            for side in StreetSide.allCases {
                guard let range = range(ofSegment: segment, side, bytes) else { continue }
                let hasStep =
                    range.step >= AddressRange.leastStep && range.fits(Int(range.to))
                guard range.high <= Int(AddressGazetteer.mostNumber), range.step == 0 || hasStep
                else { throw LocatorFile.Damage("segment \(segment) is invalid") }
            }
        }
        for vertex in 0..<count(.vertices) {
            let location = location(ofVertex: vertex, bytes)
            guard abs(location.x) <= 180, abs(location.y) <= 90 else {
                throw LocatorFile.Damage("vertex \(vertex) is invalid")
            }
        }
    }

    /// Whether a field of four bytes is non-decreasing from record to record, within a limit.
    private func ascends(
        _ section: LocatorLayout.Section, field: Int, upTo limit: Int, strictly: Bool = false,
        _ bytes: RawSpan
    ) throws(LocatorFile.Damage) {
        var last = -1
        for record in 0..<count(section) {
            let next = Int(bytes.uint32(at: offset(section, record) + 4 * field))
            guard next > last || next == last && !strictly, next <= limit else {
                throw LocatorFile.Damage("record \(record) of \(section) is invalid")
            }
            last = next
        }
    }

    private func all(
        _ section: LocatorLayout.Section, areBelow limit: Int, _ bytes: RawSpan
    ) throws(LocatorFile.Damage) {
        for record in 0..<count(section)
        where Int(bytes.uint32(at: offset(section, record))) >= limit {
            throw LocatorFile.Damage("record \(record) of \(section) is invalid")
        }
    }

    private func textsLieInside(
        _ section: LocatorLayout.Section, _ bytes: RawSpan
    ) throws(LocatorFile.Damage) {
        let limit = count(.text)
        for record in 0..<count(section) {
            let at = offset(section, record)
            guard Int(bytes.uint32(at: at)) + Int(bytes.uint32(at: at + 4)) <= limit else {
                throw LocatorFile.Damage("record \(record) of \(section) is invalid")
            }
        }
    }
}
