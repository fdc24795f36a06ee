// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials

/// The files of a style that an update brings along: rows `resource PATH` of its table `update`, in
/// base64.
struct UpdateResources {
    private static let prefix = "resource "
    /// The most files; a reader takes a thousand rows.
    private static let countBound = 900

    private(set) var files: [String: [UInt8]] = [:]

    init() {}

    /// The files among the rows of an update; throws `corrupt`.
    init(_ rows: [String: String], _ path: String) throws(Failure) {
        for (name, value) in rows where name.hasPrefix(Self.prefix) {
            guard let bytes = Data(base64Encoded: value) else {
                throw Failure.damaged(path, "its \(name) cannot be read")
            }
            files[String(name.dropFirst(Self.prefix.count))] = Array(bytes)
        }
    }

    mutating func add(_ name: String, _ bytes: [UInt8]) throws(Failure) {
        files[name] = bytes
        guard files.count <= Self.countBound else {
            throw Failure(
                .tooLarge,
                "the update would have more than \(Self.countBound) files of fonts and symbols")
        }
    }

    func write(to database: PackageDatabase.Writing) throws(Failure) {
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            try database.run(
                #"INSERT INTO "update" (name, value) VALUES (?, ?)"#, .text(Self.prefix + name),
                .text(Data(bytes).base64EncodedString()))
        }
    }
}
