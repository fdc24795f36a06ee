// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The role of a word in an address in parts.
enum AddressPart: CaseIterable {
    case address, neighborhood, city, subregion, region, postal

    /// Whether a place of this kind may be named by the part.
    func names(_ kind: PlaceKind) -> Bool {
        switch self {
        case .address: kind == .pointOfInterest
        case .postal: false
        case .neighborhood, .city: kind == .settlement
        case .subregion: kind == .subregion
        case .region: kind == .region
        }
    }

    func text(in fields: AddressFields) -> String? {
        switch self {
        case .address: fields.address
        case .neighborhood: fields.neighborhood
        case .city: fields.city
        case .subregion: fields.subregion
        case .region: fields.region
        case .postal: fields.postal
        }
    }
}

extension FoldedText {
    /// The words of all parts, each with its part; every part is a segment.
    init(_ parts: AddressFields, partingApostrophes: Bool = false) {
        self.init()
        for (number, field) in AddressPart.allCases.enumerated() {
            guard let text = field.text(in: parts) else { continue }
            let folded = Folder.fold(text, partingApostrophes: partingApostrophes)
            guard !folded.words.isEmpty else { continue }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
            let start = bytes.count
            bytes += folded.bytes
            hashed.formUnion(folded.hashed.map { $0 + words.count })
            words += folded.words.map { $0.lowerBound + start..<$0.upperBound + start }
            letters += folded.letters
            segments += folded.words.map { _ in number }
            fields += folded.words.map { _ in field }
        }
    }

    /// Whether a run of words may name a place of a kind: all in one part for such places, or in a
    /// text without parts.
    func allows(_ kind: PlaceKind, at span: Range<Int>) -> Bool {
        guard !fields.isEmpty, let first = span.first else { return true }
        return fields[first].names(kind) && fields[span].allSatisfy { $0 == fields[first] }
    }
}

/// The excluded roles of words in an address in parts; none in a text without parts.
struct ForbiddenWords {
    var street: UInt64 = 0
    var town: UInt64 = 0
    var postcode: UInt64 = 0
    var area: UInt64 = 0

    init(_ text: FoldedText, count: Int) {
        for (number, field) in text.fields.prefix(count).enumerated() {
            let mask: UInt64 = 3 << UInt64(2 * number)
            if field != .address { street |= mask }
            if field != .city, field != .neighborhood { town |= mask }
            if field != .postal { postcode |= mask }
            if field != .region, field != .subregion { area |= mask }
        }
    }
}
