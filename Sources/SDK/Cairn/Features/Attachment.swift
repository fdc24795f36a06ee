// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// A file that belongs to a feature.
///
/// Its name, media type and size are there at once, its bytes once they are asked for.
public final class Attachment: Sendable {
    struct Values: Sendable {
        var id = -1
        var globalID: UUID?
        var name: String
        var contentType: String
        var size: Int
    }

    private struct State: Sendable {
        var values: Values
        var loader: Loader
    }

    private let state: Guarded<State>

    /// An attachment of a service or a file, whose bytes `fetch` gives.
    init(_ values: Values, fetch: @escaping @Sendable () async throws -> Data) {
        state = Guarded(State(values: values, loader: Loader(fetch)))
    }

    /// An attachment whose bytes are there.
    init(_ content: Content) {
        state = Guarded(State(values: content.values, loader: Loader(content.data)))
    }

    /// The number that it has at its feature; -1 for one that is not on its service yet.
    public var id: Int { state.withLock { $0.values.id } }
    /// The name of the file, as `house.jpg`.
    public var name: String { state.withLock { $0.values.name } }
    /// The media type, as `image/jpeg`.
    public var contentType: String { state.withLock { $0.values.contentType } }
    /// The number of bytes; 0 where the service does not say.
    public var size: Int { state.withLock { $0.values.size } }
    /// Whether the bytes are here.
    public var hasFetchedData: Bool { state.withLock { $0.loader }.bytes.current != nil }

    var globalID: UUID? { state.withLock { $0.values.globalID } }

    /// The bytes; see ``fetchData()``.
    public var data: Data {
        get async throws { try await fetchData() }
    }

    /// The bytes, which are fetched once, however many wait for them, and again after a failure.
    ///
    /// Throws ``TransportError``: `tooLarge` for more bytes than
    /// ``CairnEnvironment/memoryLimit``, `invalidAnswer` for a page of HTML in the place of the
    /// file, `unreachable` for a file that is cut short; ``ServiceError`` and others.
    @discardableResult
    public func fetchData() async throws -> Data {
        let loader = state.withLock { $0.loader }
        if let bytes = loader.bytes.current { return bytes }
        try await loader.retryLoad()
        guard let bytes = loader.bytes.current else {
            throw CairnError(.invalidState, "the attachment '\(name)' has no bytes")
        }
        return bytes
    }

    /// Takes over what an app has set.
    func take(_ content: Content) {
        state.withLock { state in
            var values = content.values
            (values.id, values.globalID) = (state.values.id, state.values.globalID)
            state = State(values: values, loader: Loader(content.data))
        }
    }

    /// Takes over what it is known by.
    func know(id: Int, _ globalID: UUID?) {
        state.withLock { state in
            state.values.id = id
            if let globalID { state.values.globalID = globalID }
        }
    }

    // `@unchecked`, as every loadable class; what changes is behind a lock.
    private final class Loader: LoadableBase, @unchecked Sendable {
        let bytes: Guarded<Data?>
        private let fetch: (@Sendable () async throws -> Data)?

        init(_ data: Data) {
            bytes = Guarded(data)
            fetch = nil
            super.init()
        }

        init(_ fetch: @escaping @Sendable () async throws -> Data) {
            bytes = Guarded(nil)
            self.fetch = fetch
            super.init()
        }

        override func performLoad() async throws {
            if let fetch { bytes.current = try await fetch() }
        }
    }
}

extension Attachment {
    /// What an app gives for an attachment.
    struct Content: Sendable {
        var name: String
        var contentType: String
        var data: Data

        /// Throws ``CairnError`` (`invalidArgument`) for a name that is none of a file, a media
        /// type of another form, and for more bytes than ``CairnEnvironment/memoryLimit``.
        init(named name: String, contentType: String, data: Data) throws {
            let isName =
                !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
                && !name.unicodeScalars.contains { $0 == "/" || $0.value < 32 || $0.value == 127 }
            guard isName else {
                throw CairnError(
                    .invalidArgument,
                    "an attachment: '\(name.prefix(80))' is no name of a file, expected 1 to 255 "
                        + "bytes without '/'")
            }
            let parts = contentType.split(separator: "/", omittingEmptySubsequences: false)
            let isType =
                parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
                && contentType.utf8.allSatisfy { (32...126).contains($0) }
            guard isType else {
                throw CairnError(
                    .invalidArgument,
                    "the attachment '\(name)': '\(contentType.prefix(80))' is no media type, "
                        + "expected one as image/jpeg")
            }
            let limit = AttachmentFiles.limit
            guard data.count <= limit else {
                throw CairnError(
                    .invalidArgument,
                    "the attachment '\(name)' has \(data.count) bytes, "
                        + "CairnEnvironment.memoryLimit is \(limit)")
            }
            (self.name, self.contentType, self.data) = (name, contentType, data)
        }

        var values: Values {
            Values(name: name, contentType: contentType, size: data.count)
        }
    }
}
