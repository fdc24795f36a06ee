// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The street and house number that a point of interest has by itself.
public struct PointAddress: Hashable, Sendable {
    /// Never empty.
    public let street: String
    /// `12 bis`; empty for none.
    public let number: String

    /// As tags or fields have them; nil without a street, and where one is longer than a street or
    /// number may be (200 and 40 bytes).
    public init?(street: String, number: String) {
        guard 1...AddressReader.longestName ~= street.utf8.count, number.utf8.count <= 40 else {
            return nil
        }
        self.street = street
        self.number = number
    }

    /// `12 bis Rue de la Paix`.
    var text: String { number.isEmpty ? street : number + " " + street }
}

/// Where an opened, checked locator file has the streets and house numbers of points of interest.
final class PointAddressFile: Sendable {
    private let count: Int
    private let start: Int
    private let textStart: Int

    init(sections: [Range<Int>]) {
        let section = sections[LocatorLayout.Section.pointAddresses.rawValue]
        count = section.count / 20
        start = section.lowerBound
        textStart = sections[LocatorLayout.Section.text.rawValue].lowerBound
    }

    /// The section for places in the order of the file.
    static func section(_ places: [DraftPlace], intern: (String) -> UInt32) -> [UInt8] {
        var records = ByteWriter()
        for (place, draft) in places.enumerated() {
            guard let address = draft.point?.address else { continue }
            records.append(UInt32(place))
            for text in [address.street, address.number] {
                records.append(intern(text))
                records.append(UInt32(text.utf8.count))
            }
        }
        return records.bytes
    }

    /// Nil for places without one.
    func address(of place: Int, _ bytes: RawSpan) -> PointAddress? {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let at = start + 20 * middle
            let found = Int(bytes.uint32(at: at))
            if found == place {
                return PointAddress(street: text(at + 4, bytes), number: text(at + 12, bytes))
            }
            range = found < place ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    private func text(_ at: Int, _ bytes: RawSpan) -> String {
        let start = textStart + Int(bytes.uint32(at: at))
        return String(
            decoding: bytes.copy(start..<start + Int(bytes.uint32(at: at + 4))), as: UTF8.self)
    }

    /// Checks every number that points somewhere.
    func check(
        _ bytes: RawSpan, placeCount: Int, textCount: Int
    ) throws(LocatorFile.Damage) {
        var last = -1
        for record in 0..<count {
            let at = start + 20 * record
            let place = Int(bytes.uint32(at: at))
            guard place > last, place < placeCount,
                [4, 12].allSatisfy({
                    Int(bytes.uint32(at: at + $0)) + Int(bytes.uint32(at: at + $0 + 4)) <= textCount
                })
            else { throw LocatorFile.Damage("address \(record) of a point is not sound") }
            last = place
        }
    }
}
