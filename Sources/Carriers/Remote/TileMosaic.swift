// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import Geometry

/// The tiles that a picture shows, of the level nearest to its scale, or of a coarser one where
/// that has none.
struct TileMosaic: RemoteRounds {
    /// The most tiles of a layer on a picture: for more, a coarser level is taken.
    static let tileBound = 256
    /// The most pixels of all of them.
    static let pixelBound = 32 << 20
    /// The most bytes of a tile.
    static let tileBytes = 512 << 10
    /// Number of coarser levels tried when a level has no tile at all.
    private static let retreat = 3

    private let question: RemotePictureQuestion
    private let extent: Envelope
    private let url: String
    private let isTemplate: Bool
    private let scheme: TilingScheme
    private let bounds: Envelope?
    /// Index among the scheme's levels.
    private var place: Int
    private let finest: Int
    private var range: (columns: ClosedRange<Int>, rows: ClosedRange<Int>)

    /// Nil when no tile intersects the picture.
    ///
    /// - Parameters:
    ///   - extent: The visible extent, in the scheme's spatial reference.
    ///   - url: A template, or a prefix of level, row and column.
    ///   - bounds: The extent of all tiles; nil where unknown.
    init?(
        _ question: RemotePictureQuestion, _ extent: Envelope, url: String, isTemplate: Bool,
        _ scheme: TilingScheme, bounds: Envelope?
    ) {
        self.question = question
        self.url = url
        self.isTemplate = isTemplate
        self.scheme = scheme
        self.bounds = bounds
        let seen = bounds.map { $0.common(with: extent) } ?? extent
        guard seen.width > 0, seen.height > 0 else { return nil }
        self.extent = seen
        func distance(_ level: TilingScheme.Level) -> Double {
            let ratio = level.unitsPerPixel / question.unitsPerPixel
            return max(ratio, 1 / ratio)
        }
        let nearest =
            scheme.levels.indices.min { distance(scheme.levels[$0]) < distance(scheme.levels[$1]) }
            ?? 0
        let fitting = scheme.levels[...nearest].indices.reversed().lazy
            .compactMap { place in Self.range(seen, scheme, place).map { (place, $0) } }.first
        guard let (place, range) = fitting else { return nil }
        (self.place, self.range, finest) = (place, range, place)
    }

    /// Columns and rows that a level has in a rectangle; nil for none, and for too many.
    private static func range(
        _ seen: Envelope, _ scheme: TilingScheme, _ place: Int
    ) -> (ClosedRange<Int>, ClosedRange<Int>)? {
        let side = scheme.levels[place].unitsPerPixel
        let (width, height) = (side * Double(scheme.tileWidth), side * Double(scheme.tileHeight))
        // A tile that only touches the extent, but for rounding, has nothing to show.
        let slack = 1e-6
        let numbers = [
            (seen.minX - scheme.left) / width + slack, (seen.maxX - scheme.left) / width - slack,
            (scheme.top - seen.maxY) / height + slack, (scheme.top - seen.minY) / height - slack,
        ].map { max(0, $0.rounded(.down)) }
        let most = min(tileBound, pixelBound / (scheme.tileWidth * scheme.tileHeight))
        guard numbers.allSatisfy({ $0 < 1e9 }), numbers[0] <= numbers[1], numbers[2] <= numbers[3],
            (numbers[1] - numbers[0] + 1) * (numbers[3] - numbers[2] + 1) <= Double(most)
        else { return nil }
        return (Int(numbers[0])...Int(numbers[1]), Int(numbers[2])...Int(numbers[3]))
    }

    var service: String { Breakers.service(url) }
    var byteLimit: Int { Self.tileBytes }

    var calls: [RemoteCall] {
        let level = scheme.levels[place].number
        return range.rows.flatMap { row in
            range.columns.map { column in
                RemoteCall(url: address(level, row, column), parameters: [])
            }
        }
    }

    private func address(_ level: Int, _ row: Int, _ column: Int) -> String {
        guard isTemplate else { return url.withPath("\(level)/\(row)/\(column)") }
        let fromBelow = (1 << level) - 1 - row
        return url.replacing("{z}", with: "\(level)").replacing("{x}", with: "\(column)")
            .replacing("{y}", with: "\(row)").replacing("{-y}", with: "\(fromBelow)")
    }

    mutating func take(_ answers: WebAnswers) throws(Failure) -> RemotePicture? {
        var shortfall: Failure?
        var pieces: [[UInt8]?] = []
        for answer in answers {
            do throws(Failure) { pieces.append(try Self.tile(answer)) } catch {
                shortfall = shortfall ?? error
                pieces.append(nil)
            }
        }
        guard pieces.count == range.columns.count * range.rows.count else {
            throw Failure(.internal, "its response was lost")
        }
        if pieces.allSatisfy({ $0 == nil }) {
            if let shortfall { throw shortfall }
            // The whole level may have no tiles.
            if place > 0, finest - place < Self.retreat,
                let coarser = Self.range(extent, scheme, place - 1)
            {
                (place, range) = (place - 1, coarser)
                return nil
            }
        }
        return RemotePicture(.mosaic(mosaic(pieces)), shortfall: shortfall)
    }

    /// Nil where there is no tile; throws for everything else that is no picture.
    private static func tile(_ answer: Result<WebResponse, WebError>) throws(Failure) -> [UInt8]? {
        switch answer {
        case .success(let response):
            if response.body.isEmpty { return nil }
            try response.checkPicture()
            return response.body
        case .failure(let error):
            if error.status == 404 || error.status == 410 { return nil }
            throw RemoteServices.failure(error)
        }
    }

    private func mosaic(_ pieces: [[UInt8]?]) -> RemotePicture.Mosaic {
        let side = scheme.levels[place].unitsPerPixel
        let (width, height) = (side * Double(scheme.tileWidth), side * Double(scheme.tileHeight))
        return RemotePicture.Mosaic(
            columns: range.columns.count, rows: range.rows.count, pieceWidth: scheme.tileWidth,
            pieceHeight: scheme.tileHeight,
            extent: Envelope(
                minX: scheme.left + Double(range.columns.lowerBound) * width,
                minY: scheme.top - Double(range.rows.upperBound + 1) * height,
                maxX: scheme.left + Double(range.columns.upperBound + 1) * width,
                maxY: scheme.top - Double(range.rows.lowerBound) * height),
            spatialReference: question.spatialReference, pieces: pieces)
    }
}

extension TilingScheme {
    /// The tiling scheme of web maps, whose addresses are templates: levels 0 to 22.
    static let webMaps: TilingScheme = {
        let half = Double.pi * WebMercator.radiusMeters
        let levels = (0...22).map {
            Level($0, unitsPerPixel: 2 * half / 256 / Double(1 << $0))
        }
        guard
            let scheme = TilingScheme(
                left: -half, top: half, tileWidth: 256, tileHeight: 256, levels: levels)
        else { preconditionFailure("the sizes are constant") }
        return scheme
    }()
}

extension Envelope {
    /// The intersection of both; empty if disjoint.
    fileprivate func common(with other: Envelope) -> Envelope {
        Envelope(
            minX: max(minX, other.minX), minY: max(minY, other.minY), maxX: min(maxX, other.maxX),
            maxY: min(maxY, other.maxY))
    }
}
