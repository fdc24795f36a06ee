// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

extension AddressSearch {
    /// Explains the rank of a street or house.
    func explanation(of reading: AddressReading, _ bytes: RawSpan) -> Explanation {
        var words: [Explanation.Words] = []
        var last: (mask: UInt64, lost: Double) = (0, 0)
        let label = AddressLabel(
            file, addresses, street: reading.street, house: reading.house, bytes)
        _ = scoring.reading(of: reading.street, text, bytes) { meaning, used, lost in
            let mask = used & ~last.mask
            let more = lost - last.lost
            if mask != 0 || more > 0 {
                words.append(
                    Explanation.Words(
                        text: written(mask), meaning: meaning, match: more > 0 ? .slips : .exact,
                        name: Self.name(of: meaning, label), lost: more))
            }
            last = (used, lost)
        }
        words += rest(of: last.mask, confirms: reading.confirmsTown)
        let town = addresses.place(ofTown: addresses.town(ofStreet: reading.street, bytes), bytes)
        return Explanation(
            words: words, weight: text.total, lost: words.reduce(0) { $0 + $1.lost },
            order: Explanation.Order(
                importance: file.ranking.addresses.importance
                    * Double(file.importance(town, bytes)) / 65_535, role: 0,
                nearness: scoring.filter.nearness(
                    of: addresses.location(ofStreet: reading.street, bytes), file.ranking)))
    }

    /// Explains the rank of a postcode.
    func explanation(of reading: PostcodeReading, _ bytes: RawSpan) -> Explanation {
        let mask = text.postcodes.first { $0.postcode == reading.postcode }?.mask ?? 0
        var words = [
            Explanation.Words(
                text: written(mask), meaning: .postcode, match: .exact,
                name: addresses.text(ofPostcode: reading.postcode, bytes), lost: 0)
        ]
        var (used, lost, isCertain) = (mask, 0.0, true)
        let place = addresses.place(ofTown: reading.town, bytes)
        if scoring.match(town: reading.town, text, &used, &lost, &isCertain, bytes) {
            words.append(
                Explanation.Words(
                    text: written(used & ~mask), meaning: .town, match: lost > 0 ? .slips : .exact,
                    name: file.name(place, bytes), lost: lost))
        } else {
            (used, lost) = (mask, 0)
        }
        let before = used
        scoring.useAreas(around: place, &used, bytes)
        if used != before {
            words.append(
                Explanation.Words(
                    text: written(used & ~before), meaning: .area, match: .exact, name: nil, lost: 0
                ))
        }
        words += rest(of: used, confirms: true)
        return Explanation(
            words: words, weight: text.total, lost: words.reduce(0) { $0 + $1.lost },
            order: Explanation.Order(importance: 0, role: 0, nearness: 0))
    }

    /// The unmatched words, one by one.
    private func rest(of used: UInt64, confirms: Bool) -> [Explanation.Words] {
        (0..<text.count).compactMap { number in
            let mask = text.mask(number) & ~used
            guard mask != 0 else { return nil }
            return Explanation.Words(
                text: written(mask),
                meaning: scoring.towns & mask != 0 ? .contradiction : .unexplained, match: nil,
                name: nil, lost: scoring.lost(mask, text, confirms: confirms))
        }
    }

    private func written(_ mask: UInt64) -> String {
        (0..<text.count).filter { text.mask($0) & mask != 0 }.map {
            String(decoding: text.text.bytes[text.text.words[$0]], as: UTF8.self)
        }.joined(separator: " ")
    }

    private static func name(of meaning: Explanation.Meaning, _ label: AddressLabel) -> String? {
        switch meaning {
        case .street: label.streetName
        case .postcode: label.postcode
        case .town: label.town.name
        case .house: label.number
        case .name, .country, .region, .subregion, .area, .contradiction, .unexplained: nil
        }
    }
}
