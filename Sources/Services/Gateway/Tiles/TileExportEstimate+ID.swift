// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import JobKinds

// Clients ask for the size of an export as for a job; the id of that job is the answer, so none is
// recorded.
extension TileExportEstimate {
    /// The greatest number of an id.
    private static let bound: Int64 = 1 << 53

    /// From the id of its job; nil for any other text.
    init?(id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "e", let basis = Basis(rawValue: String(parts[5]))
        else { return nil }
        let numbers = parts[1...4].compactMap { Self.number($0) }
        guard numbers.count == 4 else { return nil }
        self.init(
            tileCount: Int(numbers[0]), byteCount: numbers[1], seconds: Double(numbers[2]) / 1e3,
            basis: basis, jobCount: Int(numbers[3]))
    }

    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(text), 0...bound ~= number, "\(number)" == text else { return nil }
        return number
    }

    /// The id of its job: tiles, bytes, milliseconds, earlier exports, what they are of.
    var id: String {
        let milliseconds = Int64((seconds * 1e3).rounded())
        return "e-\(tileCount)-\(byteCount)-\(milliseconds)-\(jobCount)-\(basis.rawValue)"
    }
}
