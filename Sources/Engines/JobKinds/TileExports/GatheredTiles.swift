// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform
internal import Site
internal import TilePackages

/// The tiles of all gathered blobs in ascending order.
///
/// A place takes 24 bytes; of the blobs themselves one tile is in memory at a time.
struct GatheredTiles {
    private struct Place {
        var key: UInt64
        var offset: Int
        var file: Int32
        var count: Int32
    }

    /// Most files that are open at a time.
    private static let openLimit = 128

    private let paths: [String]
    private var places: [Place] = []

    init(_ context: ChunkContext) throws {
        let parts = context.assignment.gathered.compactMap(\.self)
        guard parts.count == context.assignment.gathered.count else {
            throw Failure(.corrupt, "a chunk of tiles left no blob")
        }
        try self.init(parts.map { context.blobs.path($0.id) }) { number in
            try context.checkCancelled()
            try BatchGeocode.check(parts[number], context)
            context.report(0)
        }
    }

    /// The tiles of the blobs at some paths; `willRead` is called with the number of each before
    /// it is read.
    init(_ paths: [String], willRead: (Int) throws -> Void = { _ in }) throws {
        self.paths = paths
        for (number, path) in paths.enumerated() {
            try willRead(number)
            for place in try TileBlob.places(in: RandomAccessFile(path: path)) {
                places.append(
                    Place(
                        key: place.tile.sortKey, offset: place.bytes.lowerBound,
                        file: Int32(number), count: Int32(place.bytes.count)))
            }
        }
        places.sort { $0.key < $1.key }
    }

    var count: Int { places.count }

    /// Calls with each tile, its bytes and its number in the order.
    func forEach(_ body: (TileAddress, [UInt8], Int) throws -> Void) throws {
        var files: [Int32: RandomAccessFile] = [:]
        for (number, place) in places.enumerated() {
            guard let tile = TileAddress(sortKey: place.key) else {
                throw Failure(.corrupt, "a tile's address has no known form")
            }
            if files[place.file] == nil, files.count == Self.openLimit { files = [:] }
            let file =
                try files[place.file] ?? RandomAccessFile(path: paths[Int(place.file)])
            files[place.file] = file
            try body(tile, file.read(place.offset..<place.offset + Int(place.count)), number)
        }
    }
}
