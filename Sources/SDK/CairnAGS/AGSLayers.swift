// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// The spelling of Swift 1, which imported everything as implicitly unwrapped.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

internal import Cairn
public import Foundation

/// Gets news of a layer.
public protocol AGSLayerDelegate: AnyObject {
    /// A layer is there.
    func layerDidLoad(_ layer: AGSLayer!)
    /// A layer is there; the older spelling.
    func layerDidLoad(layer: AGSLayer!)
    /// A layer could not be loaded.
    func layer(_ layer: AGSLayer!, didFailToLoadWithError error: NSError!)
    /// A layer could not be loaded; the older spelling.
    func layer(layer: AGSLayer!, didFailToLoadWithError error: NSError!)
}

extension AGSLayerDelegate {
    /// Does nothing.
    public func layerDidLoad(_ layer: AGSLayer!) {}
    /// Does nothing.
    public func layerDidLoad(layer: AGSLayer!) {}
    /// Does nothing.
    public func layer(_ layer: AGSLayer!, didFailToLoadWithError error: NSError!) {}
    /// Does nothing.
    public func layer(layer: AGSLayer!, didFailToLoadWithError error: NSError!) {}
}

/// A layer of a map view; it loads once it is in one whose reference is decided.
public class AGSLayer: @unchecked Sendable {
    // `@unchecked`: all state is behind the lock.
    let lock = NSLock()
    private var layerName = ""
    private var current: Layer
    private var signIn: AGSCredential?
    private let delegateBox = WeakBox<any AGSLayerDelegate>()

    init(_ layer: Layer, _ credential: AGSCredential?) {
        current = layer
        signIn = credential
    }

    /// The layer that it stands for.
    var layer: Layer { lock.withLock { current } }
    var credential: AGSCredential? { lock.withLock { signIn } }

    /// Its name in the map, unique there.
    public internal(set) var name: String! {
        get { lock.withLock { layerName } }
        set { lock.withLock { layerName = newValue ?? "" } }
    }

    /// What gets its news.
    public weak var delegate: (any AGSLayerDelegate)? {
        get { delegateBox.value }
        set { delegateBox.value = newValue }
    }

    /// Whether it is there.
    public var loaded: Bool { layer.loadStatus == .loaded }
    /// Why it is not; nil unless it failed.
    public var error: NSError! { layer.loadError.map { $0 as NSError } }

    /// Whether it is drawn.
    public var visible: Bool {
        get { layer.isVisible }
        set { layer.isVisible = newValue }
    }
    /// From 0 for transparent to 1.
    public var opacity: Float {
        get { layer.opacity }
        set { layer.opacity = newValue }
    }

    /// What it is measured in; nil before it is loaded.
    public var spatialReference: AGSSpatialReference! {
        layer.spatialReference.map { AGSSpatialReference($0) }
    }
    /// Around everything in it; nil before it is loaded.
    public var fullEnvelope: AGSEnvelope! { layer.fullExtent.map { AGSEnvelope($0) } }
    /// What a map shows of it at first; nil before it is loaded.
    public var initialEnvelope: AGSEnvelope! { fullEnvelope }

    /// Makes the layer for a URL; subclasses replace it.
    func make(_ url: URL) -> Layer { current }
    var url: URL? { nil }

    func load() async {
        do {
            if let credential, let url {
                let signed = try await credential.resolved(for: url)
                CairnEnvironment.authenticationManager.arcGISCredentialStore.add(signed)
            }
            try await layer.load()
            CairnAGS.call { [self] in
                delegate?.layerDidLoad(self)
                delegate?.layerDidLoad(layer: self)
            }
            lock.withLock { whenLoaded }?()
        } catch {
            CairnAGS.call { [self] in
                let error = error as NSError
                delegate?.layer(self, didFailToLoadWithError: error)
                delegate?.layer(layer: self, didFailToLoadWithError: error)
            }
        }
    }

    // MARK: Resubmit

    /// Tries again, on a layer that failed; does nothing on any other.
    public func resubmit() { resubmit(url, credential) }

    /// Tries again at another URL with another credential, on a layer that failed; it keeps its
    /// name and its place.
    public func resubmitWithURL(_ url: NSURL!, credential: AGSCredential!) {
        resubmit(url as URL?, credential)
    }

    private func resubmit(_ url: URL?, _ credential: AGSCredential?) {
        let old = layer
        guard old.loadStatus == .failed, let url else { return }
        let fresh = make(url)
        fresh.isVisible = old.isVisible
        fresh.opacity = old.opacity
        lock.withLock {
            current = fresh
            signIn = credential
        }
        Task { await self.load() }
    }

    private var whenLoaded: (@Sendable () -> Void)?

    /// Does something each time that it has been loaded, in the place of what was set before.
    func follow(_ body: (@Sendable () -> Void)?) { lock.withLock { whenLoaded = body } }
}

/// The tiles of a map service.
public final class AGSTiledMapServiceLayer: AGSLayer, @unchecked Sendable {
    /// A layer of a service.
    public convenience init(URL: NSURL!) { self.init(URL: URL, credential: nil) }
    /// A layer of a service, with a credential.
    public init(URL: NSURL!, credential: AGSCredential!) {
        super.init(ArcGISTiledLayer(url: URL.orNowhere), credential)
    }
    override var url: URL? { (layer as? ArcGISTiledLayer)?.url }
    override func make(_ url: URL) -> Layer { ArcGISTiledLayer(url: url) }
}

/// A map service, drawn by the server.
public final class AGSDynamicMapServiceLayer: AGSLayer, @unchecked Sendable {
    /// A layer of a service.
    public convenience init(URL: NSURL!) { self.init(URL: URL, credential: nil) }
    /// A layer of a service, with a credential.
    public init(URL: NSURL!, credential: AGSCredential!) {
        super.init(ArcGISMapImageLayer(url: URL.orNowhere), credential)
    }
    override var url: URL? { (layer as? ArcGISMapImageLayer)?.url }
    override func make(_ url: URL) -> Layer { ArcGISMapImageLayer(url: url) }

    private var sublayers: [ArcGISSublayer] {
        func flat(_ layers: [ArcGISSublayer]) -> [ArcGISSublayer] {
            layers.flatMap { [$0] + flat($0.mapImageSublayers) }
        }
        return flat((layer as? ArcGISMapImageLayer)?.mapImageSublayers ?? [])
    }

    /// Numbers of the layers that are drawn; setting it hides the others.
    public var visibleLayers: [Int]! {
        get { sublayers.filter(\.isVisible).map(\.id) }
        set {
            for sublayer in sublayers {
                sublayer.isVisible = (newValue ?? []).contains(sublayer.id)
            }
        }
    }

    /// Names of the layers by number.
    public var layerInfo: [Int: String]! {
        Dictionary(sublayers.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Features of a service.
public final class AGSFeatureLayer: AGSLayer, @unchecked Sendable {
    /// A layer of a service.
    public convenience init(URL: NSURL!) { self.init(URL: URL, credential: nil) }
    /// A layer of a service, with a credential.
    public init(URL: NSURL!, credential: AGSCredential!) {
        super.init(
            FeatureLayer(featureTable: ServiceFeatureTable(url: URL.orNowhere)), credential)
    }
    override var url: URL? {
        ((layer as? FeatureLayer)?.featureTable as? ServiceFeatureTable)?.url
    }
    override func make(_ url: URL) -> Layer {
        FeatureLayer(featureTable: ServiceFeatureTable(url: url))
    }
}

/// Layers of a WMS.
public final class AGSWMSLayer: AGSLayer, @unchecked Sendable {
    private let names: [String]

    /// A layer of a service.
    public convenience init(URL: NSURL!) { self.init(URL: URL, credential: nil) }
    /// A layer of a service, with a credential; its layers are those of the parameter `layers`.
    public init(URL: NSURL!, credential: AGSCredential!) {
        let url = URL.orNowhere
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        names =
            (items.first { $0.name.lowercased() == "layers" }?.value ?? "")
            .split(separator: ",").map(String.init)
        super.init(WMSLayer(url: url, layerNames: names), credential)
    }
    override var url: URL? { (layer as? WMSLayer)?.url }
    override func make(_ url: URL) -> Layer { WMSLayer(url: url, layerNames: names) }
}

/// Drawings of the app's own.
public final class AGSGraphicsLayer: AGSLayer, @unchecked Sendable {
    private var drawn: [AGSGraphic] = []
    let overlay = GraphicsOverlay()

    /// An empty layer.
    public init() { super.init(EmptyLayer.make(), nil) }

    /// The graphics, the bottom one first.
    public var graphics: [AGSGraphic]! { lock.withLock { drawn } }
    /// Adds a graphic on top.
    public func addGraphic(_ graphic: AGSGraphic!) {
        guard let graphic else { return }
        lock.withLock { drawn.append(graphic) }
        dataChanged()
    }
    /// Removes all graphics.
    public func removeAllGraphics() {
        lock.withLock { drawn = [] }
        dataChanged()
    }
    /// Takes changes of graphics into the picture.
    public func dataChanged() {
        overlay.removeAllGraphics()
        overlay.addGraphics((graphics ?? []).map(\.current))
    }

    /// True: there is nothing to load.
    public override var loaded: Bool { true }
    /// Whether it is drawn.
    public override var visible: Bool {
        get { overlay.isVisible }
        set { overlay.isVisible = newValue }
    }
    /// From 0 for transparent to 1.
    public override var opacity: Float {
        get { overlay.opacity }
        set { overlay.opacity = newValue }
    }
    override func load() async {
        CairnAGS.call { [self] in delegate?.layerDidLoad(self) }
    }
}

/// What a layer of graphics has in the place of a service.
private enum EmptyLayer {
    static func make() -> Layer { WebTiledLayer(urlTemplate: "") }
}

extension NSURL? {
    /// The URL; for nil one that no server has.
    fileprivate var orNowhere: URL {
        (self as URL?) ?? URL(filePath: "/dev/null")
    }
}
