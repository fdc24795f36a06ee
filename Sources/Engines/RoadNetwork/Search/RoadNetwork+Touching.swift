// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import Platform
internal import SpatialIndex

extension RoadNetwork {
    /// Most positions of a shape that roads are looked for at.
    public static let shapeLimit = 100_000

    /// The edges, both directions, whose line shares a position with a shape, ascending.
    ///
    /// Longitude and latitude are treated as a plane. Throws `tooLarge` for a shape of more than
    /// ``shapeLimit`` positions.
    public func edges(touching shape: Shape) throws(Failure) -> [Int] {
        guard shape.coordinateCount <= Self.shapeLimit else {
            throw Failure(
                .tooLarge,
                "a shape of \(shape.coordinateCount) positions: expected at most "
                    + "\(Self.shapeLimit)")
        }
        let prepared = PreparedShape(shape)
        guard !prepared.isEmpty else { return [] }
        var links: Set<Int> = []
        mapped.withBytes { bytes in
            let tree = bytes.extracting(file.sections[NetworkLayout.Section.tree.rawValue])
            file.snapping.tree.search(tree, prepared.envelope) { leaf in
                links.insert(SnapIndex.piece(leaf.offset).link)
            }
        }
        var edges: [Int] = []
        for link in links {
            let directions = [false, true].compactMap { edge(ofLink: link, isBackward: $0) }
            guard let edge = directions.first else { continue }
            let line = PreparedShape(.polyline(paths: [self.shape(of: edge)]), isIndexed: false)
            if line.intersects(prepared) { edges += directions }
        }
        return edges.sorted()
    }
}
