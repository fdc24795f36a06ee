// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform

/// The contents of `cairn.json`.
public struct SiteIdentity: Hashable, Sendable, Codable {
    /// Format version of the directory; this build knows 1.
    public var formatVersion: Int
    /// Made once, kept for ever.
    public var siteID: UUID
    /// Creation time of the site.
    public var createdAt: Timestamp

    /// Newest format version of this build.
    public static let newestFormat = 1

    /// Makes an identity.
    public init(formatVersion: Int, siteID: UUID, createdAt: Timestamp) {
        self.formatVersion = formatVersion
        self.siteID = siteID
        self.createdAt = createdAt
    }

    /// Only the version, the one member that every later format must keep readable.
    private struct Version: Decodable { var formatVersion: Int }

    init(readingFrom path: String, site: String) throws(Failure) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(.notFound, "'\(site)' is not a Cairn site: it has no cairn.json")
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(.unreadable, "'\(path)' cannot be read")
        }
        do throws(Failure) {
            let version = try CairnJSON.decode(Version.self, from: bytes).formatVersion
            guard version <= Self.newestFormat else {
                throw Failure(
                    .newerVersion,
                    "'\(site)' has site format \(version); this build knows format "
                        + "\(Self.newestFormat)")
            }
            self = try CairnJSON.decode(SiteIdentity.self, from: bytes)
        } catch {
            guard error.code == .invalidParameter else { throw error }
            throw Failure(.corrupt, "'\(path)' is not a site's cairn.json: \(error.message)")
        }
        guard formatVersion >= 1 else {
            throw Failure(.corrupt, "'\(path)' has site format \(formatVersion); expected 1")
        }
    }

    /// Writes the file unless there is one already.
    func write(to path: String, inDirectory directory: String) throws(Failure) {
        let text = try CairnJSON.encode(self)
        do {
            var file = try StagedFile(inDirectory: directory)
            try file.write(text.bytes)
            try file.publish(as: path, replacing: false)
        } catch {
            throw Failure(error)
        }
    }
}
