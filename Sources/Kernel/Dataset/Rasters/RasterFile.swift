// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import GDAL
public import Geometry
internal import Platform

/// A raster of the site: pixels of the ground in an immutable copy of the files that were imported.
///
/// Used from one thread at a time; every thread opens its own.
public final class RasterFile {
    private let source: RasterSource
    private let toPixel: PixelTransform
    /// Extent, spatial reference, size and bands.
    public let properties: LayerProperties

    /// Opens a raster in its directory `<directory>/<id>/`.
    ///
    /// Cost and memory do not depend on its size. Throws `notFound`, `unreadable`, or `corrupt`,
    /// naming the file, for a file that is missing, truncated, or does not match its name.
    ///
    /// - Parameter isVerified: Whether every byte is compared with the import's hashes, too.
    public init(_ id: ContentID, in directory: String, isVerified: Bool = false) throws(Failure) {
        let directory = directory + "/" + id.rawValue
        let manifest = try RasterManifest(directory: directory, id: id)
        if isVerified { try manifest.verify(directory: directory) }
        guard let main = manifest.files.first else {
            throw Failure(.corrupt, "raster \(id) has no files")
        }
        do throws(GDALError) {
            source = try RasterSource(
                path: FileSystem.absolute(directory + "/" + main.name), format: manifest.format)
        } catch {
            throw Failure(.corrupt, error.description)
        }
        (toPixel, properties) = try Self.describe(source)
    }

    /// The values of one pixel.
    public struct Pixel: Hashable, Sendable {
        /// Its column, from 0 at the left.
        public var column: Int
        /// Its row, from 0 at the top.
        public var row: Int
        /// The value of every band; nil where there is no data.
        public var values: [AttributeValue]
        /// Further columns: the class of a single band's value, and its row in the table of
        /// attributes.
        public var further: Attributes
    }

    /// The pixel at a place in the raster's spatial reference; nil outside the raster, and where no
    /// band has data.
    ///
    /// A place on the line between two pixels belongs to the one to the right and below. Throws
    /// `unreadable` where the file cannot be read.
    public func pixel(at place: Coordinate) throws(Failure) -> Pixel? {
        guard
            let (column, row) = toPixel.pixel(at: place, width: source.width, height: source.height)
        else { return nil }
        let values: [RasterValue?]
        do throws(GDALError) {
            values = try source.pixel(column: column, row: row)
        } catch {
            throw Failure(.unreadable, error.description)
        }
        guard values.contains(where: { $0 != nil }) else { return nil }
        return Pixel(
            column: column, row: row, values: values.map(AttributeValue.init),
            further: values.count == 1 ? further(values[0]) : Attributes([]))
    }

    /// The raster's pixels over a rectangle of the ground: red, green, blue and alpha, 0…255, row
    /// by row from the top, colours not premultiplied; nil when cancelled.
    ///
    /// The mapping of numbers to colours is that of `RasterSource.picture`. Throws `unreadable` for
    /// an unreadable file, or without a transformation to that spatial reference.
    public func picture(
        of extent: Envelope, in reference: SpatialReference, width: Int, height: Int,
        isCancelled: @escaping () -> Bool
    ) throws(Failure) -> [UInt8]? {
        let window = RasterWindow(extent, reference)
        do throws(GDALError) {
            return try source.picture(
                of: window, width: width, height: height, isCancelled: isCancelled)?.rgba
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    /// The legend of ``picture(of:in:width:height:isCancelled:)``, row by row from the top.
    ///
    /// A row for each class, at most `rowLimit`, the last of which gives the number of further
    /// ones; a ramp of three rows, the greatest value first; or red, green and blue: see
    /// `RasterSource.key`. Empty for a raster without a value. Throws `unreadable` for an
    /// unreadable file, `cancelled`.
    ///
    /// - Parameter steps: Number of colours in each row of a ramp.
    public func legend(
        rowLimit: Int, steps: Int, isCancelled: () -> Bool
    ) throws(Failure) -> [RasterLegendRow] {
        let key: RasterKey?
        do throws(GDALError) {
            key = try source.key(rowLimit: rowLimit, steps: steps, isCancelled: isCancelled)
        } catch {
            throw Failure(.unreadable, error.description)
        }
        guard let key else {
            throw Failure(.cancelled, "the request was cancelled, or its time was over")
        }
        var rows = key.rows.map { row in
            RasterLegendRow(
                label: String(row.label.prefix(200)),
                colors: row.colors.map { LayerSymbol.Color($0[0], $0[1], $0[2], alpha: $0[3]) })
        }
        if key.leftOutCount > 0, let last = rows.popLast() {
            rows.append(
                RasterLegendRow(
                    label: "\(key.leftOutCount + 1) more classes, from '\(last.label)' on",
                    colors: [LayerSymbol.Color(0, 0, 0, alpha: 0)]))
        }
        return rows
    }

    private func further(_ value: RasterValue?) -> Attributes {
        guard let value else { return Attributes([]) }
        var entries: [Attributes.Entry] = []
        if case .integer(let number) = value, let index = Int(exactly: number) {
            let names = source.bands[0].categories
            if names.indices.contains(index), !names[index].isEmpty {
                entries.append(.init(name: "Class Name", value: .string(names[index])))
            }
        }
        for (name, cell) in source.tableRow(band: 0, value: value.number) {
            let isTaken = entries.contains { $0.name.lowercased() == name.lowercased() }
            guard !name.isEmpty, !isTaken, name.lowercased() != "pixel value" else { continue }
            entries.append(.init(name: name, value: AttributeValue(cell)))
        }
        return Attributes(entries)
    }

    /// Throws `unreadable` for a file without georeferencing, or without plain numbers.
    static func describe(
        _ source: RasterSource
    ) throws(Failure) -> (PixelTransform, LayerProperties) {
        guard let numbers = source.transform, let toPixel = PixelTransform(numbers) else {
            throw Failure(.unreadable, "the raster is not georeferenced")
        }
        guard let stated = source.spatialReference else {
            throw Failure(.unreadable, "the raster states no spatial reference")
        }
        guard source.width > 0, source.height > 0, !source.bands.isEmpty else {
            throw Failure(.unreadable, "the raster has no pixels")
        }
        for (index, band) in source.bands.enumerated() where band.kind == .other {
            throw Failure(
                .unreadable,
                "band \(index + 1) holds \(band.typeName): expected whole or real numbers")
        }
        var extent = Envelope.empty
        for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            extent.extend(
                to: toPixel.place(
                    column: Double(column * source.width), row: Double(row * source.height)))
        }
        let raster = RasterProperties(
            width: source.width, height: source.height,
            bands: source.bands.map {
                RasterProperties.Band(type: $0.typeName, name: $0.name.isEmpty ? nil : $0.name)
            })
        return (
            toPixel,
            LayerProperties(
                extent: extent,
                spatialReference: stated.wkid.map { SpatialReference(wkid: $0) }
                    ?? SpatialReference(wkt: stated.wkt),
                geometryType: nil, fields: [], featureCount: 0, raster: raster)
        )
    }
}

extension RasterValue {
    fileprivate var number: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        }
    }
}

extension AttributeValue {
    fileprivate init(_ value: RasterValue?) {
        switch value {
        case nil: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        }
    }

    fileprivate init(_ value: RasterTableValue) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .real(let value): self = value.isFinite ? .real(value) : .null
        case .text(let value): self = .string(value)
        }
    }
}
