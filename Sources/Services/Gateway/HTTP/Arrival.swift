// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How far the request that comes in is, and whether it comes fast enough.
///
/// A head has to be whole within a period; a body brings at least `bodyByteMinimum` bytes, or its
/// end, in each.
struct Arrival {
    private enum Phase { case none, head, body }

    /// The least of a body in one period.
    static let bodyByteMinimum = 16_384

    private var phase = Phase.none
    private var byteCount = 0

    /// Whether a request has begun and not ended.
    var isUnderWay: Bool { phase != .none }
    /// Whether its head is not whole yet.
    var isHead: Bool { phase == .head }

    mutating func gotBytes() { if phase == .none { phase = .head } }
    mutating func gotHead() { (phase, byteCount) = (.body, 0) }
    mutating func gotBody(_ count: Int) { byteCount += count }
    mutating func gotEnd() { phase = .none }

    /// Whether too little has come in the period that ends now; the next one begins.
    mutating func isTooSlow() -> Bool {
        defer { byteCount = 0 }
        return switch phase {
        case .none: false
        case .head: true
        case .body: byteCount < Self.bodyByteMinimum
        }
    }
}
