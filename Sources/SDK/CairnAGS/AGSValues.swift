// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// The spelling of Swift 1, which imported everything as implicitly unwrapped.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import Cairn
public import Foundation
internal import Synchronization

/// Objective-C's name for an operation.
public typealias NSOperation = Operation

/// The delegate API of 2013 to 2016, in Swift 1's spelling.
public enum CairnAGS {
    private static let queue = Mutex(DispatchQueue.main)

    /// The queue that delegates are called on; the main queue unless set.
    public static var callbackQueue: DispatchQueue {
        get { queue.withLock { $0 } }
        set { queue.withLock { $0 = newValue } }
    }

    static func call(_ body: @escaping @Sendable () -> Void) { callbackQueue.async(execute: body) }
}

/// Adds a name of Swift 1 to a value of today.
public final class AGSSpatialReference: Sendable {
    let value: SpatialReference

    /// A reference by number; Web Mercator for one below 1.
    public init(WKID: Int) {
        value = Cairn.WKID(WKID).map { SpatialReference(wkid: $0) } ?? .webMercator
    }

    init(_ value: SpatialReference) { self.value = value }

    /// The number; 0 for a reference by text.
    public var wkid: UInt { UInt(value.wkid?.rawValue ?? 0) }

    /// WGS 84.
    public class func wgs84SpatialReference() -> AGSSpatialReference { .init(.wgs84) }
    /// Web Mercator.
    public class func webMercatorSpatialReference() -> AGSSpatialReference { .init(.webMercator) }
}

/// A shape on the ground.
public class AGSGeometry: @unchecked Sendable {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    let value: Cairn.Geometry

    init(_ value: Cairn.Geometry) { self.value = value }

    /// What it is measured in; nil where that is not known.
    public var spatialReference: AGSSpatialReference! {
        value.spatialReference.map { AGSSpatialReference($0) }
    }

    /// Around it.
    public var envelope: AGSEnvelope! { AGSEnvelope(value.extent) }

    /// The JSON text of the REST.
    public func toJSON() -> String { value.toJSON() }

    static func make(_ value: Cairn.Geometry?) -> AGSGeometry? {
        switch value {
        case nil: nil
        case let value as Point: AGSPoint(value)
        case let value as Envelope: AGSEnvelope(value)
        case let value as Polyline: AGSPolyline(value)
        case let value as Polygon: AGSPolygon(value)
        case let value?: AGSGeometry(value)
        }
    }
}

/// A position.
public final class AGSPoint: AGSGeometry, @unchecked Sendable {
    /// A position in a reference.
    public convenience init(x: Double, y: Double, spatialReference: AGSSpatialReference!) {
        self.init(Point(x: x, y: y, spatialReference: spatialReference?.value))
    }

    init(_ value: Point) { super.init(value) }

    /// Longitude or easting.
    public var x: Double { (value as? Point)?.x ?? 0 }
    /// Latitude or northing.
    public var y: Double { (value as? Point)?.y ?? 0 }
}

/// Lines.
public final class AGSPolyline: AGSGeometry, @unchecked Sendable {}

/// An area.
public final class AGSPolygon: AGSGeometry, @unchecked Sendable {}

/// A rectangle along the axes.
public final class AGSEnvelope: AGSGeometry, @unchecked Sendable {
    /// A rectangle.
    public convenience init(
        xmin: Double, ymin: Double, xmax: Double, ymax: Double,
        spatialReference: AGSSpatialReference!
    ) {
        self.init(
            Envelope(
                xMin: xmin, yMin: ymin, xMax: xmax, yMax: ymax,
                spatialReference: spatialReference?.value))
    }

    init(_ value: Envelope) { super.init(value) }

    private var box: Envelope { value.extent }
    /// The west side.
    public var xmin: Double { box.xMin }
    /// The south side.
    public var ymin: Double { box.yMin }
    /// The east side.
    public var xmax: Double { box.xMax }
    /// The north side.
    public var ymax: Double { box.yMax }
    /// The middle.
    public var center: AGSPoint! { AGSPoint(box.center) }
}

/// A name and a password, or a token.
public final class AGSCredential: Sendable {
    let username: String
    let password: String
    let token: String?

    /// A user.
    public init(user: String!, password: String!) {
        username = user ?? ""
        self.password = password ?? ""
        token = nil
    }

    /// A token that was got elsewhere.
    public init(token: String!) {
        username = ""
        password = ""
        self.token = token
    }

    /// The credential for a server; signs in for a name and password.
    func resolved(for url: URL) async throws -> any ArcGISCredential {
        if let token {
            return TokenCredential(
                url: url, tokenInfo: TokenInfo(accessToken: token, expirationDate: nil))
        }
        return try await TokenCredential.credential(
            for: url, username: username, password: password)
    }
}

/// How a graphic is drawn; immutable: color and style are given as it is made.
public typealias AGSSymbol = Symbol
/// A mark at a point; immutable.
public typealias AGSSimpleMarkerSymbol = SimpleMarkerSymbol
/// A line; immutable.
public typealias AGSSimpleLineSymbol = SimpleLineSymbol
/// The inside and the outline of an area; immutable.
public typealias AGSSimpleFillSymbol = SimpleFillSymbol

/// A drawing, or a feature that was found.
public final class AGSGraphic: @unchecked Sendable {
    // `@unchecked`: the members are behind the lock.
    private let lock = NSLock()
    private var shape: AGSGeometry?
    private var values: [String: any Sendable]
    private var drawing: Symbol?

    /// A graphic.
    public init(
        geometry: AGSGeometry!, symbol: Symbol!, attributes: [String: any Sendable]! = [:]
    ) {
        shape = geometry
        drawing = symbol
        values = attributes ?? [:]
    }

    /// Its geometry; nil for none.
    public var geometry: AGSGeometry! {
        get { lock.withLock { shape } }
        set { lock.withLock { shape = newValue } }
    }

    /// How it is drawn; nil until the app sets it.
    public var symbol: Symbol! {
        get { lock.withLock { drawing } }
        set { lock.withLock { drawing = newValue } }
    }

    /// Its values by name.
    public var attributes: NSDictionary {
        let pairs = lock.withLock { values }
        let dictionary = NSMutableDictionary()
        for (name, value) in pairs { dictionary[name] = value }
        return dictionary
    }

    /// A value as text; nil for none.
    public func attributeAsStringForKey(_ key: String) -> String! {
        lock.withLock { values[key] }.map { "\($0)" }
    }

    /// Sets a value.
    public func setAttribute(_ value: (any Sendable)?, forKey key: String) {
        lock.withLock { values[key] = value }
    }

    var current: Graphic {
        lock.withLock { Graphic(geometry: shape?.value, attributes: values, symbol: drawing) }
    }
}
