// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Cairo
internal import FoundationEssentials
internal import GDAL
public import Identify

/// Draws pictures of maps: no clock, no socket, no randomness.
///
/// The same request on the same map gives the same picture, with the same version of Cairo.
/// Thread-safe.
public enum MapPicture {
    /// Draws the picture of a map, or, where the request has no format, only its head.
    ///
    /// `isStale` is passed on. A map without a spatial reference is blank. Throws what
    /// `IdentifyEngine.forEachDrawnFeature` throws, and `tooLarge` for a picture of more than
    /// ``ExportRequest/byteBound`` bytes, all tiles together. The head lists the failures of layers
    /// that cannot be drawn, and of those on other servers, which are queried through `remotes`,
    /// also where nothing is drawn. Holds two canvases of four bytes a pixel, and for areas or dots
    /// four bytes more.
    public static func draw(
        _ request: ExportRequest, of map: PreparedMap, by engine: IdentifyEngine,
        isStale: Bool = false, remotes: IdentifyEngine.RemotePictureProvider? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(Failure) -> ExportedPicture {
        let frame = try engine.frame(of: request, in: map)
        var head = ExportedPicture.Head(
            extent: frame.extent, spatialReference: frame.spatialReference,
            width: request.width, height: request.height, scale: frame.scale,
            format: request.format, sequence: map.description.sequence, isStale: isStale)
        let isBlank = map.description.spatialReference == nil
        if !isBlank, engine.showsRemotes(request, in: map, frame: frame) { head.hasRemote = true }
        guard let format = request.format else {
            if !isBlank {
                head.missing = try engine.missing(
                    of: request, in: map, frame: frame, remotes: remotes, isCancelled: isCancelled,
                    wish: wish(request, frame)
                ).nonEmpty
            }
            return ExportedPicture(head: head, bytes: Data())
        }
        let canvas = try Failure.drawing { () throws(CairoError) in
            try Canvas(width: request.width, height: request.height, format, request.isTransparent)
        }
        var unplaceable: [LayerID: Set<Int64>] = [:]
        if !isBlank {
            head.missing = try draw(
                request, frame, map, engine, canvas, remotes, isCancelled, &unplaceable
            )
            .nonEmpty
        }
        // Encoding cannot be interrupted.
        if isCancelled() {
            throw Failure(.cancelled, "the request was cancelled or timed out")
        }
        guard let division = request.division else {
            let bytes = try encode(
                canvas, format, request.quality, atMost: ExportRequest.byteBound)
            return ExportedPicture(head: head, bytes: Data(bytes), unplaceable)
        }
        let pieces = try cut(canvas, division, request, format)
        head.pieceByteCounts = pieces.map(\.count)
        return ExportedPicture(head: head, bytes: Data(pieces.joined()), unplaceable)
    }

    /// Cuts the picture into tiles, row by row.
    private static func cut(
        _ canvas: Canvas, _ division: Int, _ request: ExportRequest, _ format: PictureFormat
    ) throws(Failure) -> [[UInt8]] {
        let (width, height) = (canvas.width / division, canvas.height / division)
        var pieces: [[UInt8]] = []
        var left = ExportRequest.byteBound
        /// Pieces of one colour, which are many beside the coasts.
        var uniform: [UInt32: [UInt8]] = [:]
        for number in 0..<division * division {
            let (x, y) = (number % division * width, number / division * height)
            let part = (columns: x..<x + width, rows: y..<y + height)
            let bytes: [UInt8]
            if format == .png {
                let pixel = try Failure.drawing { () throws(CairoError) in
                    try canvas.uniformPixel(columns: part.columns, rows: part.rows)
                }
                if let pixel, let known = uniform[pixel] {
                    bytes = known
                } else {
                    bytes = try png(canvas, part, atMost: left)
                    if let pixel { uniform[pixel] = bytes }
                }
            } else {
                let piece = try Failure.drawing { () throws(CairoError) in
                    try Canvas(width: width, height: height, format, request.isTransparent)
                }
                piece.paint(canvas, x: -x, y: -y)
                bytes = try encode(piece, format, request.quality, atMost: left)
            }
            left -= bytes.count
            guard left >= 0 else { throw tooLarge() }
            pieces.append(bytes)
        }
        return pieces
    }

    private static func png(
        _ canvas: Canvas, _ part: (columns: Range<Int>, rows: Range<Int>)?,
        atMost byteLimit: Int
    ) throws(Failure) -> [UInt8] {
        let bytes = try Failure.drawing { () throws(CairoError) in
            try canvas.png(atMost: byteLimit, of: part)
        }
        guard let bytes else { throw tooLarge() }
        return bytes
    }

    private static func tooLarge() -> Failure {
        Failure(
            .tooLarge,
            "the picture would have more than \(ExportRequest.byteBound) bytes: ask for a smaller "
                + "size, or for format=jpg")
    }

    private static func draw(
        _ request: ExportRequest, _ frame: PictureFrame, _ map: PreparedMap,
        _ engine: IdentifyEngine, _ canvas: Canvas,
        _ remotes: IdentifyEngine.RemotePictureProvider?, _ isCancelled: @escaping () -> Bool,
        _ unplaceable: inout [LayerID: Set<Int64>]
    ) throws(Failure) -> [LayerFailure] {
        var painter = LayerPainter(
            canvas, PixelFrame(frame, width: request.width, height: request.height),
            dpi: request.dpi)
        var labels = LabelPainter(canvas, dpi: request.dpi)
        let missing = try engine.forEachDrawnFeature(
            of: request, in: map, frame: frame, remotes: remotes, isCancelled: isCancelled,
            wish: wish(request, frame),
            unplaceable: { unplaceable[$0, default: []].insert($1) }
        ) { layer throws(Failure) in
            let style = LayerStyle(layer, scale: frame.scale)
            painter.beginLayer(style, reach: reach(of: style, dpi: request.dpi))
            labels.beginLayer(style)
        } raster: { pixels throws(Failure) in
            try painter.draw(pixels)
        } feature: { feature throws(Failure) in
            try painter.draw(feature)
            labels.take(feature, painter.frame)
        }
        painter.endLayer()
        try labels.draw(isCancelled)
        return missing
    }

    /// Maximum distance of a layer's symbols from their shapes, in pixels of 96 dots per inch.
    public static func reachPixels(of layer: LayerDescription) -> Double {
        reach(of: LayerStyle(layer, scale: nil), dpi: 96)
    }

    /// Maximum distance of symbols from their shapes, in pixels.
    private static func reach(of style: LayerStyle, dpi: Double) -> Double {
        (style.reachPoints * dpi / 72).rounded(.up) + 2
    }

    private static func wish(
        _ request: ExportRequest, _ frame: PictureFrame
    ) -> (LayerDescription) -> DrawnWish {
        { layer in
            let style = LayerStyle(layer, scale: frame.scale)
            return DrawnWish(
                reach: reach(of: style, dpi: request.dpi) * frame.unitsPerPixel,
                fields: style.fields, conditions: style.conditions)
        }
    }

    private static func encode(
        _ canvas: Canvas, _ format: PictureFormat, _ quality: Int?, atMost byteLimit: Int
    ) throws(Failure) -> [UInt8] {
        switch format {
        case .png: return try png(canvas, nil, atMost: byteLimit)
        case .jpg:
            let pixels = try Failure.drawing { () throws(CairoError) in try canvas.rgb() }
            let jpeg = try jpeg(
                pixels, canvas, min(max(quality ?? ExportRequest.standardQuality, 1), 100))
            guard jpeg.count <= byteLimit else { throw tooLarge() }
            return jpeg
        }
    }

    private static func jpeg(
        _ pixels: [UInt8], _ canvas: Canvas, _ quality: Int
    ) throws(Failure) -> [UInt8] {
        do throws(GDALError) {
            return try JPEGEncoder.encode(
                rgb: pixels, width: canvas.width, height: canvas.height, quality: quality)
        } catch {
            throw Failure(.internal, error.description)
        }
    }
}

extension Canvas {
    /// A canvas with the background.
    fileprivate convenience init(
        width: Int, height: Int, _ format: PictureFormat, _ isTransparent: Bool
    ) throws(CairoError) {
        let isClear = isTransparent && format != .jpg
        try self.init(width: width, height: height, hasAlpha: isClear)
        if !isClear { paint(PaintColor(red: 1, green: 1, blue: 1)) }
    }
}

extension ExportedPicture {
    fileprivate init(head: Head, bytes: Data, _ unplaceable: [LayerID: Set<Int64>]) {
        self.init(head: head, bytes: bytes)
        self.unplaceable = unplaceable
    }
}

extension [LayerFailure] {
    /// Nil when empty.
    fileprivate var nonEmpty: [LayerFailure]? { isEmpty ? nil : self }
}
