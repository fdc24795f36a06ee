// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The smallest convex area around places.
public enum ConvexHull {
    /// The corners, counterclockwise from the leftmost, without the first at the end; two for
    /// places in one line, one for one place, none for none.
    ///
    /// Andrew's monotone chain (1979); corners are exact, places on a side are none. A place that
    /// is not finite gives an arbitrary hull.
    public static func corners(of places: [Coordinate]) -> [Coordinate] {
        let sorted = places.sorted { OverlayOrder.precedes($0, $1) }
        var distinct: [Coordinate] = []
        for place in sorted where distinct.last != place { distinct.append(place) }
        guard distinct.count > 2 else { return distinct }
        func half(_ places: some Sequence<Coordinate>) -> [Coordinate] {
            var chain: [Coordinate] = []
            for place in places {
                while chain.count > 1,
                    orientation(chain[chain.count - 2], chain[chain.count - 1], place) <= 0
                {
                    chain.removeLast()
                }
                chain.append(place)
            }
            return chain
        }
        return half(distinct).dropLast() + half(distinct.reversed()).dropLast()
    }
}
