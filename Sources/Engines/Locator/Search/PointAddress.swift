// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The own street and house number of a point of interest.
public struct PointAddress: Hashable, Sendable {
    /// The street; never empty.
    public let street: String
    /// The house number, such as `12 bis`; empty for none.
    public let number: String

    /// Creates an address from tags or fields; nil without a street, and for a street or number
    /// that is too long (200 and 40 bytes).
    public init?(street: String, number: String) {
        guard 1...AddressReader.longestName ~= street.utf8.count, number.utf8.count <= 40 else {
            return nil
        }
        self.street = street
        self.number = number
    }

    /// The address as text: `12 bis Rue de la Paix`.
    var text: String { number.isEmpty ? street : number + " " + street }
}

/// The streets and house numbers of points of interest in an opened, validated locator file.
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

    /// The encoded section, for places in the order of the file.
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

    /// Nil for a place without one.
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

    /// Checks every offset and index.
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
            else { throw LocatorFile.Damage("address \(record) of a point is invalid") }
            last = place
        }
    }
}
