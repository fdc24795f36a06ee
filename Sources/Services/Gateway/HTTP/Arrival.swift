// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Progress of an incoming request, and whether it arrives fast enough.
///
/// A head has to be complete within a period; a body delivers at least `bodyByteMinimum` bytes, or
/// its end, in each period.
struct Arrival {
    private enum Phase { case none, head, body }

    /// Minimum number of body bytes in a period.
    static let bodyByteMinimum = 16_384

    private var phase = Phase.none
    private var byteCount = 0

    /// Whether a request has begun and not ended.
    var isUnderWay: Bool { phase != .none }
    /// Whether its head is still incomplete.
    var isHead: Bool { phase == .head }

    mutating func gotBytes() { if phase == .none { phase = .head } }
    mutating func gotHead() { (phase, byteCount) = (.body, 0) }
    mutating func gotBody(_ count: Int) { byteCount += count }
    mutating func gotEnd() { phase = .none }

    /// Whether too little arrived in the period that ends now; begins the next one.
    mutating func isTooSlow() -> Bool {
        defer { byteCount = 0 }
        return switch phase {
        case .none: false
        case .head: true
        case .body: byteCount < Self.bodyByteMinimum
        }
    }
}
