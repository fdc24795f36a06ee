// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import JobKinds
internal import Platform

/// The size of an export that has not been made.
///
/// Clients ask for it as for a job; the id of that job is the answer, so none is recorded.
struct TileEstimate: Hashable {
    /// How the bytes were found.
    enum Basis: Character {
        /// From packages that jobs have made of the map.
        case products = "p"
        /// From the usual size of a tile.
        case usual = "u"
    }

    let tileCount: Int
    let byteCount: Int
    let basis: Basis

    /// The greatest number of an id.
    private static let bound = 1 << 53

    init(tileCount: Int, bytesPerTile: Double, basis: Basis) {
        self.tileCount = tileCount
        let bytes = (Double(tileCount) * max(0, bytesPerTile)).rounded()
        byteCount = Int(min(bytes, Double(Self.bound)))
        self.basis = basis
    }

    /// From the id of its job; nil for any other text.
    init?(id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "e", let tiles = Self.number(parts[1]),
            let bytes = Self.number(parts[2]), parts[3].count == 1,
            let basis = parts[3].first.flatMap({ Basis(rawValue: $0) })
        else { return nil }
        (tileCount, byteCount, self.basis) = (tiles, bytes, basis)
    }

    private static func number(_ text: Substring) -> Int? {
        guard let number = Int(text), 0...bound ~= number, "\(number)" == text else { return nil }
        return number
    }

    /// The id of its job.
    var id: String { "e-\(tileCount)-\(byteCount)-\(basis.rawValue)" }

    var message: String {
        let source =
            switch basis {
            case .products: "by the tiles of packages made of this map before"
            case .usual: "by the usual size of a tile: no such package was made of this map yet"
            }
        return "\(tileCount) tiles, about \(byteCount) bytes, \(source)"
    }

    /// Bytes of a tile, without any package to measure.
    static func usualByteCount(_ face: TileFace, _ texts: [String: String]) -> Double {
        switch face {
        case .vectors: 2_000
        case .pictures: texts["tileFormat"]?.lowercased() == "jpg" ? 10_000 : 8_000
        }
    }
}
