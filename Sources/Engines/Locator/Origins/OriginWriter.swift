// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Encodes the origins of a locator's records.
struct OriginWriter {
    let sources: [LocatorSource]
    let sets: [[UInt16]]

    /// The sections; `intern` returns the offset of a text in the section of texts.
    func sections(
        places: [DraftPlace], streets: [AddressGazetteer.Street], intern: (String) -> UInt32
    ) -> [LocatorLayout.Section: [UInt8]] {
        var result: [LocatorLayout.Section: [UInt8]] = [:]
        var records = ByteWriter()
        for source in sources {
            for text in [source.name, source.form, source.attribution ?? ""] {
                records.append(intern(text))
                records.append(UInt32(text.utf8.count))
            }
            records.append(UInt64(source.recordCount))
        }
        result[.sources] = records.bytes
        (result[.originSets], result[.originSetSources]) = layOutSets()
        (result[.placeOriginStarts], result[.placeOrigins]) = layOut(places, intern)
        var (streetRuns, houseRuns) = (OriginRuns(), OriginRuns())
        for street in streets {
            streetRuns.append(street.origin)
            for house in street.houses { houseRuns.append(house.origin) }
        }
        result[.streetOrigins] = streetRuns.records.bytes
        result[.houseOrigins] = houseRuns.records.bytes
        return result
    }

    private func layOutSets() -> (starts: [UInt8], sources: [UInt8]) {
        var (starts, members) = (ByteWriter(), ByteWriter())
        var count: UInt32 = 0
        for set in sets {
            starts.append(count)
            for source in set { members.append(UInt32(source)) }
            count += UInt32(set.count)
        }
        starts.append(count)
        return (starts.bytes, members.bytes)
    }

    private func layOut(
        _ places: [DraftPlace], _ intern: (String) -> UInt32
    ) -> (starts: [UInt8], records: [UInt8]) {
        var (starts, records) = (ByteWriter(capacity: places.count * 4), ByteWriter())
        var count: UInt32 = 0
        for place in places {
            starts.append(count)
            let all = place.origins.all
            for origin in all {
                let (form, value) = Self.stored(origin.id, intern)
                records.append(UInt32(origin.source))
                records.append(UInt32(form.rawValue))
                records.append(value)
            }
            count += UInt32(all.count)
        }
        starts.append(count)
        return (starts.bytes, records.bytes)
    }

    private static func stored(
        _ id: SourceIdentifier, _ intern: (String) -> UInt32
    ) -> (StoredIdentifierForm, UInt64) {
        switch id {
        case .none: (.none, 0)
        case .number(let number): (.number, number)
        case .node(let number): (.node, number)
        case .way(let number): (.way, number)
        case .relation(let number): (.relation, number)
        case .text(let text):
            (.text, UInt64(intern(text)) | UInt64(text.utf8.count) << 32)
        }
    }
}

/// The form of a record's identifier in the file.
enum StoredIdentifierForm: UInt32 {
    case none, number, node, way, relation
    /// Offset in the section of texts, with the length in the upper bits.
    case text
}

/// Run-length encoding of the records' sets of sources.
private struct OriginRuns {
    private(set) var records = ByteWriter()
    private var count: UInt32 = 0
    private var last: UInt16?

    mutating func append(_ set: UInt16) {
        if set != last {
            records.append(count)
            records.append(UInt32(set))
        }
        last = set
        count += 1
    }
}
