// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A file: a local one is uploaded before the job is submitted; one of a server is fetched when an
/// app asks for it.
public final class GeoprocessingDataFile: GeoprocessingParameter, @unchecked Sendable {
    /// The file, local or on a server.
    public let url: URL
    /// The id of an upload; nil for none.
    public let inputItemID: String?

    /// A file.
    public init(url: URL) {
        self.url = url
        inputItemID = nil
    }

    /// A local file.
    public convenience init(fileURL: URL) { self.init(url: fileURL) }

    /// The local file; nil for one of a server.
    public var fileURL: URL? { url.isFileURL ? url : nil }
    /// The path of the local file; nil for one of a server.
    public var filePath: String? { fileURL?.path(percentEncoded: false) }

    /// An upload that is on the server already.
    public init(inputItemID: String, service: URL) {
        url = service
        self.inputItemID = inputItemID
    }

    override var formValue: String {
        if let inputItemID {
            return JSON.object([(name: "itemID", value: .string(inputItemID))]).jsonText
        }
        return JSON.object([(name: "url", value: .string(url.absoluteString))]).jsonText
    }

    /// Fetches the file to a place; a local one is copied.
    ///
    /// Throws ``TransportError`` (`file`) where it cannot be read or written, ``ServiceError`` and
    /// others.
    public func fetch(to target: URL) async throws {
        if url.isFileURL {
            do { try FileManager.default.copyItem(at: url, to: target) } catch {
                throw TransportError(
                    .file, "'\(url.path(percentEncoded: false))' cannot be copied: \(error)")
            }
            return
        }
        try await Download.fetch(Question(url), to: target)
    }

    /// The bytes of the file; throws ``TransportError`` (`tooLarge`) for one of a server with more
    /// than ``CairnEnvironment/memoryLimit``, ``ServiceError`` and others.
    public func data() async throws -> Data {
        if url.isFileURL {
            do { return try Data(contentsOf: url) } catch {
                throw TransportError(
                    .file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
            }
        }
        let response = try await Requester.stream(Question(url))
        return Data(
            try await response.body.collect(
                atMost: CairnEnvironment.settings.current.memoryLimit))
    }
}
