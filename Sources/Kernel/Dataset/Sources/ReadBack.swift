// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Platform
import SpatialIndex

/// The expected content of a file, for comparison after a write.
///
/// A full or failing disk shows late or not at all in the calls that write.
struct ReadBack: Sendable {
    /// The bytes before the features.
    let front: [UInt8]
    /// The CRC-32C of the features' bytes.
    let checksum: UInt32
    /// The object ids in the order of the file.
    let objectIDs: [Int32]
    /// The coordinates of all features.
    let coordinateCount: Int

    /// Compares every byte of the file with the bytes written; throws `.noSpace` for a difference.
    func checkBytes(of path: String) throws {
        let isWhole = try MappedFile(path: path).withBytes { file in
            guard file.byteCount >= front.count else { return false }
            return file.extracting(0..<front.count).copy() == front
                && CRC32C.checksum(file.extracting(front.count..<file.byteCount)) == checksum
        }
        guard isWhole else {
            throw Self.refusal("it does not hold the bytes written to it")
        }
    }

    /// Reads every feature as a reader would: object id, coordinates, attributes; throws `.noSpace`
    /// unless all can be read and are those expected.
    func checkFeatures(of dataset: Dataset) throws(Failure) {
        do throws(Failure) {
            guard dataset.header.featureCount == objectIDs.count,
                try dataset.checkFeatures(objectIDs) == coordinateCount
            else { throw Failure(.corrupt, "it does not hold the features written to it") }
        } catch { throw Self.refusal(error.message) }
    }

    private static func refusal(_ reason: String) -> Failure {
        Failure(
            .noSpace, "the dataset was not written completely; is the disk full?",
            details: [reason])
    }
}

extension Dataset {
    /// Reads all features in full, which must have these object ids; how many coordinates they
    /// have.
    fileprivate func checkFeatures(_ objectIDs: [Int32]) throws(Failure) -> Int {
        do throws(Damage) {
            return try file.withBytes { bytes throws(Damage) in
                let tree = bytes.extracting(header.treeBytes)
                var count = 0
                for (ordinal, objectID) in objectIDs.enumerated() {
                    guard let leaf = header.tree?.leaf(at: ordinal, in: tree) else {
                        throw Damage(offset: 0, expected: "feature \(ordinal)")
                    }
                    let range = try featureRange(bytes, leaf)
                    do throws(Damage) {
                        count += try check(bytes.extracting(range), objectID)
                    } catch { throw error.shifted(by: range.lowerBound) }
                }
                return count
            }
        } catch { throw Self.corrupt(file.path, error) }
    }

    private func check(_ bytes: RawSpan, _ objectID: Int32) throws(Damage) -> Int {
        let table = try FlatTable.root(bytes)
        let attributes = try table.vector(bytes, 1, elementByteCount: 1) ?? 0..<0
        guard try FlatGeobufProperties.objectID(bytes, attributes) == Int64(objectID) else {
            throw Damage(offset: attributes.lowerBound, expected: "object id \(objectID)")
        }
        try FlatGeobufProperties.check(bytes, attributes, header.columns)
        guard let geometry = try table.table(bytes, 0) else { return 0 }
        var count = 0
        try FlatGeobufGeometry.forEachPiece(bytes, geometry, header.kind) { xy, _ in
            count += xy.count / 16
        }
        for (slot, has) in [(2, header.hasZ), (3, header.hasM)] where has {
            let further = try FlatGeobufGeometry.ordinates(bytes, geometry, header.kind, slot: slot)
            guard further.count == count else {
                throw Damage(offset: 0, expected: "\(count) numbers in slot \(slot)")
            }
        }
        return count
    }
}
