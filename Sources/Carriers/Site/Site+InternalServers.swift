// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform

extension Site {
    /// The contents of ``internalServersFile``.
    private struct InternalServersList: Decodable {
        var formatVersion: Int
        var servers: [String]
    }

    /// The list of servers of internal networks that layers may use.
    public var internalServersFile: String { path + "/internal-servers.json" }

    private static let internalServersByteLimit = 65_536

    /// The hosts, addresses and networks of ``internalServersFile``, 64 KiB at most; nil where
    /// there is no such file.
    ///
    /// Throws `Failure`: `unreadable`, `corrupt`, `newerVersion`.
    public func internalServers() throws(Failure) -> [String]? {
        let file = internalServersFile
        let bytes: [UInt8]
        do throws(MappingError) {
            // A longer file is cut, and then not valid JSON.
            let mapped = try MappedFile(path: file)
            bytes = mapped.copy(0..<min(mapped.byteCount, Self.internalServersByteLimit))
        } catch {
            if error.isNotFound { return nil }
            throw Failure(.unreadable, "'\(file)' cannot be read")
        }
        do throws(Failure) {
            let list = try CairnJSON.decode(InternalServersList.self, from: Data(bytes))
            guard list.formatVersion == 1 else {
                throw Failure(.newerVersion, "format \(list.formatVersion); expected 1")
            }
            return list.servers
        } catch {
            throw Failure(
                error.code == .newerVersion ? .newerVersion : .corrupt,
                "'\(file)' cannot be understood: \(error.message)")
        }
    }
}
