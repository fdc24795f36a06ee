// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

extension Shape {
    /// The coordinates as nested numbers, for any kind.
    var numbers: [[[Double]]] {
        switch self {
        case .point(let point): [[[point.x, point.y]]]
        case .multipoint(let points): [points.map { [$0.x, $0.y] }]
        case .polyline(let chains), .polygon(let chains): chains.map { $0.map { [$0.x, $0.y] } }
        case .envelope: []
        }
    }
}
