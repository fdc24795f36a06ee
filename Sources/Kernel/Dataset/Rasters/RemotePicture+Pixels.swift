// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import GDAL
public import Geometry

extension RemotePicture.Mosaic {
    /// The picture's pixels over a rectangle of the ground: red, green, blue and alpha, 0…255, row
    /// by row from the top, colours not premultiplied; nil when cancelled.
    ///
    /// Pieces are decoded, tiled, and projected by GDAL unless the rectangle is theirs already. An
    /// unreadable one is left clear, and the first such failure is in `shortfall`. Memory: four
    /// bytes for each pixel of the mosaic, three times. Throws `unreadable` without a
    /// transformation between the spatial references.
    ///
    /// - Parameter sideBound: The greatest width and height that a piece may state.
    public func pixels(
        of rectangle: Envelope, in reference: SpatialReference, width: Int, height: Int,
        sideBound: Int, shortfall: inout Failure?, isCancelled: @escaping () -> Bool
    ) throws(Failure) -> [UInt8]? {
        var whole = [UInt8]()
        for (number, bytes) in pieces.enumerated() {
            if isCancelled() { return nil }
            guard let bytes else { continue }
            do throws(GDALError) {
                let piece = try EncodedPicture.pixels(
                    bytes, width: pieceWidth, height: pieceHeight, sideBound: sideBound)
                if pieces.count == 1 { whole = piece.rgba } else { put(piece, number, on: &whole) }
            } catch {
                shortfall = shortfall ?? Failure(.unreadable, error.description)
            }
        }
        if whole.isEmpty { return nil }
        let size = (columns * pieceWidth, rows * pieceHeight)
        if rectangle == extent, reference.isEquivalent(to: spatialReference),
            size == (width, height)
        {
            return whole
        }
        do throws(GDALError) {
            let picture = RasterPicture(width: size.0, height: size.1, rgba: whole)
            return try picture.brought(
                from: RasterWindow(extent, spatialReference),
                to: RasterWindow(rectangle, reference),
                width: width, height: height, isCancelled: isCancelled)?.rgba
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    private func put(_ piece: RasterPicture, _ number: Int, on whole: inout [UInt8]) {
        let stride = columns * pieceWidth * 4
        if whole.isEmpty { whole = [UInt8](repeating: 0, count: stride * rows * pieceHeight) }
        let (row, column) = number.quotientAndRemainder(dividingBy: columns)
        let count = pieceWidth * 4
        for line in 0..<pieceHeight {
            let target = (row * pieceHeight + line) * stride + column * count
            whole.replaceSubrange(
                target..<target + count, with: piece.rgba[line * count..<(line + 1) * count])
        }
    }
}

extension RasterWindow {
    init(_ extent: Envelope, _ reference: SpatialReference) {
        self.init(
            minX: extent.minX, minY: extent.minY, maxX: extent.maxX, maxY: extent.maxY,
            wkid: reference.wkid, wkt: reference.wkt)
    }
}
