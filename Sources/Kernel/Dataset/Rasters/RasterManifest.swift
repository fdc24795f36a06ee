// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// `raster.json`: the files a raster is made of.
///
/// The SHA-256 of its bytes names the raster.
struct RasterManifest: Codable {
    /// One file beside the manifest.
    struct File: Codable {
        var name: String
        var byteCount: Int64
        var sha256: ContentID
    }

    /// The name of the manifest in a raster's directory.
    static let name = "raster.json"
    private static let byteLimit = 1 << 20

    /// GDAL's short name of the format.
    var format: String
    /// The files, the one to open first.
    var files: [File]

    /// Reads the manifest in a raster's directory.
    ///
    /// Throws `notFound` for a missing manifest, `corrupt` for one that does not match the raster's
    /// name, or a file of another size than stated.
    init(directory: String, id: ContentID) throws(Failure) {
        let path = directory + "/" + Self.name
        let bytes: [UInt8]
        do throws(MappingError) {
            let file = try MappedFile(path: path)
            bytes = file.copy(0..<min(file.byteCount, Self.byteLimit))
        } catch {
            throw Failure(
                error.isNotFound ? .notFound : .unreadable,
                error.isNotFound ? "the site has no raster \(id)" : error.description)
        }
        guard ContentID(SHA256.digest(bytes)) == id else {
            throw Failure(.corrupt, "'\(path)' is damaged: its SHA-256 is not \(id)")
        }
        do throws(Failure) {
            self = try CairnJSON.decode(RasterManifest.self, from: Data(bytes))
        } catch {
            throw Failure(.corrupt, "'\(path)': \(error.message)")
        }
        for file in files {
            let found = Self.byteCount(directory + "/" + file.name)
            guard found == file.byteCount else {
                throw Failure(
                    .corrupt,
                    "raster file '\(directory)/\(file.name)' "
                        + (found.map { "has \($0) bytes, not \(file.byteCount)" } ?? "is missing"))
            }
        }
    }

    init(format: String, files: [File]) {
        self.format = format
        self.files = files
    }

    /// Throws `corrupt`, naming the file, unless every byte is the same as at import.
    func verify(directory: String) throws(Failure) {
        for file in files {
            let path = directory + "/" + file.name
            let digest: SHA256.Digest
            do {
                digest = try MappedFile(path: path).withBytes { SHA256.digest($0) }
            } catch {
                throw Failure(.unreadable, error.description)
            }
            guard ContentID(digest) == file.sha256 else {
                throw Failure(
                    .corrupt, "raster file '\(path)' is damaged: its bytes are not those imported")
            }
        }
    }

    private static func byteCount(_ path: String) -> Int64? {
        (try? MappedFile(path: path)).map { Int64($0.byteCount) }
    }
}
