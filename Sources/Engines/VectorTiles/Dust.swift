// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// What stands for a feature where it is too small for the grid.
///
/// An area that vanishes in the grid and fits in two steps is shown as a square of one step, a line
/// alike as a horizontal stroke of one step: not always, but with the probability of its area over
/// that of the square, or of its length over that of the stroke. A town of small houses keeps the
/// tone it has, and the number of squares stays bounded by the area they cover. Chance is a hash of
/// the feature's id and place: the same in every tile and at every level, so what is shown at one
/// level is shown at the next.
struct Dust {
    /// The middle of the feature's envelope.
    let place: Coordinate
    /// The longer side of its envelope in metres.
    let reach: Double
    /// The area of its rings, holes not deducted, or the length of its paths; metres.
    let measure: Double
    /// Hash of its id and place.
    let hash: UInt64

    init(_ shape: Shape, id: UInt64?) {
        let envelope = shape.envelope
        place = envelope.center
        reach = max(envelope.width, envelope.height)
        switch shape {
        case .point, .multipoint: measure = 0
        case .envelope: measure = envelope.width * envelope.height
        case .polygon(let rings):
            measure = rings.reduce(0) { $0 + abs(Ring.signedArea($1)) }
        case .polyline(let paths):
            measure = paths.reduce(0) { sum, path in
                zip(path, path.dropFirst()).reduce(sum) { sum, edge in
                    let (dx, dy) = (edge.1.x - edge.0.x, edge.1.y - edge.0.y)
                    return sum + (dx * dx + dy * dy).squareRoot()
                }
            }
        }
        hash = [place.x.bitPattern, place.y.bitPattern].reduce(Self.mixed(id ?? 0)) {
            Self.mixed($0 ^ $1)
        }
    }

    /// Whether the feature is shown where a step of the grid is so many metres.
    func isShown(stepMeters: Double, kind: GeometryKind) -> Bool {
        guard reach <= 2 * stepMeters else { return false }
        let whole = kind == .polygon ? stepMeters * stepMeters : stepMeters
        return Double(hash >> 11) * 0x1p-53 < measure / whole
    }

    /// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
    static func mixed(_ number: UInt64) -> UInt64 {
        var z = number &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
