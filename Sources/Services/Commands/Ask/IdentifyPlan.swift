// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
internal import Glibc
internal import PROJ

/// The requests whose answers together are the answer of `cairn identify`.
///
/// Without a tolerance there are up to two: layers of polygons and rasters are searched exactly,
/// those of points, lines and graphics within ``reach``.
struct IdentifyPlan: Sendable {
    /// Metres around a place that count for points and lines where no tolerance is given.
    static let reach = 10.0

    private(set) var requests: [IdentifyRequest]
    let map: MapDescription
    /// Metres on the ground per map unit at the geometry.
    let metersPerUnit: Double

    /// A plan with a tolerance in metres, or, where `pixels` is given, in pixels of the screen.
    ///
    /// Without either, `isDivided` says whether points and lines are searched nearby.
    init(
        _ request: IdentifyRequest, on map: MapDescription, meters: Double?, pixels: Double?,
        isDivided: Bool
    ) throws {
        self.map = map
        guard let reference = map.spatialReference else {
            throw Failure(
                .conflict, "map '\(map.name)' is blank: no layer of it is loaded, so give --extent")
        }
        let screen = request.spatialReference ?? reference
        let source = request.geometrySpatialReference ?? screen
        let center = request.geometry.envelope.center
        let place = try? CoordinateTransform(from: source, to: reference).forward(center)
        metersPerUnit = GroundScale.metersPerUnit(of: reference, at: place ?? center)
        let toPixels = try Self.pixelsPerUnit(request, from: screen, to: reference) / metersPerUnit
        var exact = request
        exact.tolerance = pixels ?? meters.map { $0 * toPixels } ?? 0
        requests = [exact]
        guard isDivided, meters == nil, pixels == nil else { return }
        let candidates = map.candidates(of: request.layers)
        let near = candidates.filter(\.isSearchedNearby)
        guard !near.isEmpty else { return }
        var nearby = exact
        nearby.tolerance = Self.reach * toPixels
        if near.count == candidates.count {
            requests = [nearby]
        } else {
            nearby.layers.ids = near.map(\.id)
            exact.layers.ids = candidates.filter { !$0.isSearchedNearby }.map(\.id)
            requests = [exact, nearby]
        }
    }

    /// The pixels of the screen in a map unit, as the engine measures them.
    private static func pixelsPerUnit(
        _ request: IdentifyRequest, from screen: SpatialReference, to map: SpatialReference
    ) throws -> Double {
        var extent = request.mapExtent.ordered
        if !screen.isEquivalent(to: map) {
            let shape = Shape.envelope(extent)
            extent = try CoordinateTransform(from: screen, to: map).forward(shape).envelope
        }
        // An extent without width has no pixels, and makes every search exact.
        return extent.width > 0 ? request.imageDisplay.width / extent.width : 0
    }

    /// The whole answer; `ask` carries out one request.
    func answer(
        _ ask: (IdentifyRequest) async throws -> IdentifyAnswer
    ) async throws -> IdentifyAnswer {
        var answer = try await ask(requests[0])
        guard requests.count > 1 else { return answer }
        var next = requests[1]
        // Both are answers of one moment, as far as the log can be asked.
        if next.asOf == nil, !answer.isStale { next.asOf = .sequence(answer.sequence) }
        let other = try await ask(next)
        let places = Dictionary(
            uniqueKeysWithValues: map.layers.enumerated().map { ($1.id, -$0) })
        func merged(
            _ one: [IdentifyLayerResult], _ two: [IdentifyLayerResult]
        ) -> [IdentifyLayerResult] {
            var found = one
            for layer in two {
                if let known = found.firstIndex(where: { $0.layerID == layer.layerID }) {
                    found[known].sublayerResults = merged(
                        found[known].sublayerResults, layer.sublayerResults)
                } else {
                    found.append(layer)
                }
            }
            return found.sorted { places[$0.layerID] ?? 0 < places[$1.layerID] ?? 0 }
        }
        answer.layers = merged(answer.layers, other.layers)
        if requests[0].layers.option == .top { answer.layers = Self.top(of: answer.layers) }
        let failures = (answer.failures ?? []) + (other.failures ?? [])
        answer.failures = failures.isEmpty ? nil : failures
        answer.isStale = answer.isStale || other.isStale
        if var explanation = answer.explanation, let more = other.explanation {
            let searched = more.layers.filter { $0.status == .searched }
            for layer in searched {
                guard
                    let place = explanation.layers.firstIndex(where: {
                        $0.layerID == layer.layerID
                    })
                else { continue }
                explanation.layers[place] = layer
            }
            answer.explanation = explanation
        }
        return answer
    }

    /// The first layer that has results, inside its groups.
    private static func top(of layers: [IdentifyLayerResult]) -> [IdentifyLayerResult] {
        guard var first = layers.first else { return [] }
        if first.results.isEmpty { first.sublayerResults = top(of: first.sublayerResults) }
        return [first]
    }
}

extension LayerDescription {
    /// Whether its features rarely contain a place.
    fileprivate var isSearchedNearby: Bool {
        if graphics != nil { return true }
        switch properties?.geometryType {
        case .point, .multipoint, .polyline: return true
        case .polygon, nil: return false
        }
    }
}

extension MapDescription {
    /// The layers of a selection, without groups.
    fileprivate func candidates(of selection: LayerSelection) -> [LayerDescription] {
        var wanted = selection.ids.map { Set($0) }
        // A group comes before its children.
        for layer in layers where wanted?.contains(layer.id) == true {
            wanted?.formUnion(layer.children)
        }
        return layers.filter { $0.kind != .group && wanted?.contains($0.id) ?? true }
    }
}

/// Lengths on the ground.
enum GroundScale {
    /// Metres per unit of a reference at a place, of x or of y where these differ the greater.
    static func metersPerUnit(of reference: SpatialReference, at place: Coordinate) -> Double {
        let unit = try? reference.coordinateSystem.unit()
        let isAngular = unit?.isAngular ?? false
        let general = unit.map { isAngular ? $0.factor * PROJ.WebMercator.radius : $0.factor } ?? 1
        guard let transform = try? CoordinateTransform(from: reference, to: .wgs84) else {
            return general
        }
        let step = isAngular ? 1e-4 : 1
        let lengths = [(step, 0.0), (0.0, step)].compactMap { dx, dy -> Double? in
            guard let one = try? transform.forward(place),
                let other = try? transform.forward(Coordinate(x: place.x + dx, y: place.y + dy))
            else { return nil }
            let (east, north) = (other.x - one.x, other.y - one.y)
            let narrowing = cos(one.y * .pi / 180)
            let degrees = (east * east * narrowing * narrowing + north * north).squareRoot()
            let meters = degrees * .pi / 180 * PROJ.WebMercator.radius / step
            return meters.isFinite && meters > 0 ? meters : nil
        }
        return lengths.max() ?? general
    }
}
