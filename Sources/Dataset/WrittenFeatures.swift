// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

/// A tally of features that were handed to the writer, to hold the file against.
///
/// GDAL reports some failures to write, a full disk among them, late or not at all.
struct WrittenFeatures {
    /// How many there are.
    private(set) var featureCount = 0
    private var coordinateCount = 0
    private var idSum: Int64 = 0
    private var extent = Envelope.empty
    /// Of the bits of every Z and M that is a number.
    private var furtherSum: UInt64 = 0

    mutating func add(_ id: Int64, _ measured: MeasuredGeometry) {
        featureCount += 1
        idSum &+= id
        coordinateCount += measured.geometry.coordinateCount
        extent = extent.union(measured.geometry.envelope)
        addFurther(measured.z)
        addFurther(measured.m)
    }

    private mutating func addFurther(_ ordinates: [Double]?) {
        for ordinate in ordinates ?? [] where !ordinate.isNaN { furtherSum &+= ordinate.bitPattern }
    }

    /// Reads every feature of the file; throws `.noSpace` or `.internal` unless all are there.
    func verify(_ path: String) throws -> Dataset {
        let dataset: Dataset
        do {
            dataset = try Dataset(path: path)
            var found = WrittenFeatures()
            try dataset.forEach { feature in
                found.featureCount += 1
                found.idSum &+= feature.objectID
                found.coordinateCount += try dataset.coordinateCount(of: feature)
                found.extent = found.extent.union(feature.envelope)
                let further = try dataset.furtherOrdinates(of: feature)
                found.addFurther(further.z)
                found.addFurther(further.m)
                _ = try dataset.attributes(of: feature)
            }
            guard found.featureCount == featureCount, found.idSum == idSum,
                found.coordinateCount == coordinateCount, found.extent == extent,
                found.furtherSum == furtherSum
            else { throw Failure(.corrupt, "it does not hold the features written to it") }
        } catch let failure as Failure {
            throw Failure(
                .noSpace,
                "the dataset was not written completely; is the disk full?",
                details: [failure.message])
        }
        return dataset
    }
}
