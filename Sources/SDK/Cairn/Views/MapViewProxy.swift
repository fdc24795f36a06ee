// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// A view of a map that has no window: it knows what would be seen, identifies through it, and
/// makes a picture of it.
///
/// Points of the screen count from the upper left corner, y downwards. A view begins at the map's
/// initial viewpoint, else at the extent of its basemap, else of its first layer.
public final class MapViewProxy: Sendable {
    private struct State: Sendable {
        var size: CGSize
        var frame: ViewFrame?
        var overlays: [GraphicsOverlay] = []
        /// What was set before the map had a reference.
        var pending: Viewpoint?
    }

    /// The map.
    public let map: Map
    /// Dots per inch.
    public let dpi: Double
    private let state: Guarded<State>

    /// Greatest tolerance, in points.
    public static let greatestTolerance = 100.0
    private static let greatestDPI = 9_600.0
    /// Beyond it, pixels are no numbers any more.
    private static let greatestNumber = 1e15

    /// A view of a size in points.
    public init(map: Map, size: CGSize, dpi: Double = 96) {
        self.map = map
        self.dpi = dpi > 0 ? min(dpi, Self.greatestDPI) : 96
        func side(_ length: CGFloat) -> CGFloat { length > 1 ? min(length, 16_384) : 1 }
        state = Guarded(
            State(
                size: CGSize(width: side(size.width), height: side(size.height))))
    }

    /// The overlays, the bottom one first.
    public var graphicsOverlays: [GraphicsOverlay] {
        get { state.current.overlays }
        set { state.withLock { $0.overlays = newValue } }
    }

    // MARK: The frame

    /// What is shown; loads the map.
    func frame() async throws -> ViewFrame {
        try await map.load()
        guard let reference = map.spatialReference else { throw map.missingReference }
        if let frame = state.current.frame, frame.spatialReference == reference { return frame }
        let viewpoint =
            state.current.pending ?? map.initialViewpoint
            ?? map.firstExtent.map { Viewpoint(boundingGeometry: $0) }
            ?? Viewpoint(
                center: Point(x: 0, y: 0, spatialReference: reference), scale: 100_000_000)
        let frame = try Self.frame(viewpoint, state.current.size, dpi, reference, nil)
        state.withLock { ($0.frame, $0.pending) = (frame, nil) }
        return frame
    }

    private static func frame(
        _ viewpoint: Viewpoint, _ size: CGSize, _ dpi: Double, _ reference: SpatialReference,
        _ padding: Double?
    ) throws -> ViewFrame {
        let target =
            viewpoint.targetGeometry.spatialReference == nil
            ? viewpoint.targetGeometry
            : try GeometryEngine.projected(viewpoint.targetGeometry, into: reference)
        let (width, height) = (Double(size.width), Double(size.height))
        var frame = ViewFrame(
            center: target.extent.center.place, scale: viewpoint.scale ?? 1,
            rotation: viewpoint.rotation, width: width, height: height, dpi: dpi,
            spatialReference: reference)
        if viewpoint.scale == nil {
            let extent = target.extent
            let room = 2 * (padding ?? 0)
            let resolution = max(
                extent.width / max(width - room, 1), extent.height / max(height - room, 1))
            // A single place is shown at 1:1,000.
            frame.scale =
                resolution > 0
                ? ViewFrame.scale(resolution: resolution, dpi: dpi, reference) : 1_000
        }
        guard frame.scale > 0, frame.scale < greatestNumber, frame.rotation.isFinite,
            abs(frame.center.x) < greatestNumber, abs(frame.center.y) < greatestNumber
        else {
            throw CairnError(
                .invalidArgument,
                "a viewpoint at \(target.extent.center) of the scale \(frame.scale) cannot be shown"
            )
        }
        return frame
    }

    /// Shows something else; false where its geometry cannot be had in the map's reference.
    ///
    /// `duration` is for views with a window, which move; here it passes at once.
    @discardableResult
    public func setViewpoint(_ viewpoint: Viewpoint, duration: TimeInterval = 0) async -> Bool {
        try? await map.load()
        guard let reference = map.spatialReference else {
            state.withLock { $0.pending = viewpoint }
            return false
        }
        let size = state.current.size
        guard let frame = try? Self.frame(viewpoint, size, dpi, reference, nil) else {
            return false
        }
        state.withLock { $0.frame = frame }
        return true
    }

    /// Shows a place, at a scale or at the one shown.
    @discardableResult
    public func setViewpointCenter(_ center: Point, scale: Double? = nil) async -> Bool {
        let now = try? await frame()
        guard let scale = scale ?? now?.scale else { return false }
        return await setViewpoint(
            Viewpoint(center: center, scale: scale, rotation: now?.rotation ?? 0))
    }

    /// Shows the same place at another scale.
    @discardableResult
    public func setViewpointScale(_ scale: Double) async -> Bool {
        guard scale > 0, scale < Self.greatestNumber, (try? await frame()) != nil else {
            return false
        }
        state.withLock { $0.frame?.scale = scale }
        return true
    }

    /// Turns the map, by degrees counterclockwise.
    @discardableResult
    public func setViewpointRotation(_ rotation: Double) async -> Bool {
        guard rotation.isFinite, (try? await frame()) != nil else { return false }
        state.withLock { $0.frame?.rotation = rotation }
        return true
    }

    /// Shows an area, with points of padding at each side.
    @discardableResult
    public func setViewpointGeometry(_ geometry: Geometry, padding: Double = 0) async -> Bool {
        guard let now = try? await frame(), let reference = map.spatialReference,
            let frame = try? Self.frame(
                Viewpoint(boundingGeometry: geometry, rotation: now.rotation), state.current.size,
                dpi, reference, padding)
        else { return false }
        state.withLock { $0.frame = frame }
        return true
    }

    /// The scale that is shown; nil before the map has a reference.
    public var mapScale: Double? { state.current.frame?.scale }

    /// The area that is shown; nil before the map has a reference.
    public var visibleArea: Polygon? { state.current.frame?.visibleArea }

    /// Degrees counterclockwise that the map is turned.
    public var rotation: Double { state.current.frame?.rotation ?? 0 }

    /// The place at a point of the screen; nil before the map has a reference.
    public func location(fromScreenPoint point: CGPoint) -> Point? {
        guard let frame = state.current.frame else { return nil }
        return Point(frame.location(Double(point.x), Double(point.y)), frame.spatialReference)
    }

    /// The point of the screen at a place; nil before the map has a reference, and for a place that
    /// cannot be had in it.
    public func screenPoint(fromLocation location: Point) -> CGPoint? {
        guard let frame = state.current.frame else { return nil }
        return (try? frame.placed(location)).map { frame.pixel($0.place) }
            .map { CGPoint(x: $0.x, y: $0.y) }
    }

    /// Around what a rectangle of the screen shows; nil before the map has a reference.
    public func envelope(fromViewRect rect: CGRect) -> Envelope? {
        guard let frame = state.current.frame else { return nil }
        let (left, top) = (Double(rect.origin.x), Double(rect.origin.y))
        let (right, bottom) = (left + Double(rect.size.width), top + Double(rect.size.height))
        return Multipoint(
            places: [(left, top), (right, top), (left, bottom), (right, bottom)].map {
                frame.location($0.0, $0.1)
            }, spatialReference: frame.spatialReference
        ).extent
    }
}
