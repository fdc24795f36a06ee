// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import RouteDirections

extension FoundRoute {
    /// The positions of the line, longitude (x) and latitude (y) in degrees; none where no shape
    /// was asked.
    ///
    /// Throws `Failure` (`invalidParameter`) for a shape that is no encoded polyline.
    public func positions() throws(Failure) -> [Coordinate] {
        guard let shape else { return [] }
        return try EncodedPolyline.seven.decode(shape)
    }
}
