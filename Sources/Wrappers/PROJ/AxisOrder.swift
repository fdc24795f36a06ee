// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// The order of ordinates that an authority prescribes, which WMS 1.3.0 and OGC APIs follow.
public enum AxisOrder {
    private static let known = Mutex<[Int: Bool]>([:])

    /// Whether latitude or northing precedes longitude or easting, as in EPSG:4326; false for
    /// unknown numbers.
    ///
    /// Any thread; about a millisecond for the first use of a number.
    public static func isNorthFirst(_ wkid: Int) -> Bool {
        if let order = known.withLock({ $0[wkid] }) { return order }
        let order = (try? CoordinateSystem.wkid(wkid).unit().isNorthFirst) ?? false
        known.withLock { known in
            if known.count >= 10_000 { known = [:] }
            known[wkid] = order
        }
        return order
    }
}
