// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A picture at a point: a PNG, by its URL or its bytes.
///
/// A picture by URL is asked once, when the symbol is loaded or first drawn. One that cannot be had
/// is left out of pictures of maps, and that is logged.
public final class PictureMarkerSymbol: MarkerSymbol, Loadable, @unchecked Sendable {
    private struct State: Sendable {
        var width: Double?
        var height: Double?
        var opacity: Float = 1
        var picture: Raster?
    }

    private let state = Guarded(State())
    private let loader: Loader
    /// Where the picture is; nil for one by its bytes.
    public let url: URL?
    private let given: Data?

    /// A picture by its URL; nothing is asked before it is loaded or drawn.
    public init(url: URL) {
        self.url = url
        given = nil
        loader = Loader()
        super.init()
        loader.work.current = Weak(symbol: self)
    }

    /// A picture by the bytes of a PNG.
    public init(imageData: Data) {
        url = nil
        given = imageData
        loader = Loader()
        super.init()
        loader.work.current = Weak(symbol: self)
    }

    init(_ json: JSON) {
        given = json.text("imageData").flatMap { Data(base64Encoded: $0) }
        url = json.text("url").flatMap { URL(string: $0) }
        loader = Loader()
        super.init()
        state.withLock { state in
            state.width = json["width"]?.number
            state.height = json["height"]?.number
        }
        loader.work.current = Weak(symbol: self)
    }

    /// The picture's bytes; nil for one by its URL.
    public var imageData: Data? { given }

    /// The width in points; what was set, else that of the picture at 96 pixels an inch, 0 before
    /// it is loaded.
    public var width: Double {
        get { state.withLock { $0.width ?? Double($0.picture?.width ?? 0) * 0.75 } }
        set { state.withLock { $0.width = newValue } }
    }

    /// The height in points; what was set, else that of the picture at 96 pixels an inch, 0 before
    /// it is loaded.
    public var height: Double {
        get { state.withLock { $0.height ?? Double($0.picture?.height ?? 0) * 0.75 } }
        set { state.withLock { $0.height = newValue } }
    }

    /// From 0 for transparent to 1.
    public var opacity: Float {
        get { state.current.opacity }
        set { state.withLock { $0.opacity = min(max(newValue, 0), 1) } }
    }

    /// The pixels; nil before it is loaded.
    var picture: Raster? { state.current.picture }

    // MARK: Loading

    /// How far it has been loaded.
    public var loadStatus: LoadStatus { loader.loadStatus }
    /// Why it failed; nil unless it did.
    public var loadError: (any Error)? { loader.loadError }
    /// Has the picture; throws ``CairnError`` (`invalidDocument`) for bytes that are no PNG.
    public func load() async throws { try await loader.load() }
    /// Tries again after a failure; otherwise as ``load()``.
    public func retryLoad() async throws { try await loader.retryLoad() }
    /// Ends an attempt; see ``Loadable/cancelLoad()``.
    public func cancelLoad() { loader.cancelLoad() }

    private struct Weak: Sendable { weak var symbol: PictureMarkerSymbol? }

    private final class Loader: LoadableBase, @unchecked Sendable {
        let work = Guarded(Weak())
        override func performLoad() async throws { try await work.current.symbol?.read() }
    }

    private func read() async throws {
        let bytes: Data
        if let given {
            bytes = given
        } else if let url, url.isFileURL {
            bytes = try Data(contentsOf: url)
        } else if let url {
            bytes = try await Requester.bytes(Question(url)).data
        } else {
            throw CairnError(.invalidDocument, "a picture symbol has neither a URL nor a picture")
        }
        let picture: Raster
        do {
            picture = try PNG.decode([UInt8](bytes))
        } catch {
            let name = url?.withoutQuery.absoluteString ?? "\(bytes.count) bytes"
            throw CairnError(.invalidDocument, "\(name): expected a PNG: \(error)")
        }
        state.withLock { $0.picture = picture }
    }

    override var json: JSON {
        let state = state.current
        return .object(
            JSON.object(of: [
                "type": .string("esriPMS"), "url": url.map { .string($0.absoluteString) },
                "imageData": given.map { .string($0.base64EncodedString()) },
                "contentType": given == nil ? nil : .string("image/png"),
                "width": state.width.map { .real($0) }, "height": state.height.map { .real($0) },
            ]).members + positionMembers)
    }
}

extension Symbol {
    var pictures: [PictureMarkerSymbol] {
        if let parts = (self as? CompositeSymbol)?.symbols { return parts.flatMap(\.pictures) }
        return [self as? PictureMarkerSymbol].compactMap { $0 }
    }

    /// Loads the pictures of symbols that are not there yet, side by side; one that fails is
    /// logged, and asked again for the next picture.
    static func loadPictures(_ symbols: [Symbol]) async {
        var wanted: [ObjectIdentifier: PictureMarkerSymbol] = [:]
        for picture in symbols.flatMap(\.pictures) where picture.loadStatus != .loaded {
            wanted[ObjectIdentifier(picture)] = picture
        }
        await withTaskGroup(of: Void.self) { group in
            for picture in wanted.values {
                group.addTask {
                    do {
                        try await picture.retryLoad()
                    } catch {
                        CairnEnvironment.note(
                            .warning, "a symbol's picture is not drawn",
                            ["url": picture.url?.absoluteString ?? "", "error": "\(error)"])
                    }
                }
            }
        }
    }
}
