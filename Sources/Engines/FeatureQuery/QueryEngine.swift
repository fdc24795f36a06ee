// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Dataset
internal import FoundationEssentials
internal import Geometry
internal import Identify

/// Answers feature queries on the layers of a folded map and immutable datasets: no clock, no
/// socket, no randomness.
///
/// The same request on the same map gives the same bytes, in every process. `Docs/query.md` defines
/// the parameters. Thread-safe.
public final class QueryEngine: Sendable {
    /// Lends a dataset; throws `Failure` when it cannot be opened.
    public typealias DatasetProvider = @Sendable (ContentID) throws(Failure) -> Dataset

    /// Sends a question to the server of a feature layer, and waits for the answer; throws
    /// `Failure`, with a sentence.
    public typealias RemoteProvider =
        (RemoteFeatureQuestion) throws(Failure) -> RemoteFeatureAnswer

    let datasets: DatasetProvider
    private let orders = ObjectOrders()
    private let edited = EditedDatasets<ObjectOrder>()
    private let graphics = GraphicsDatasets()

    /// Creates an engine on the datasets that `datasets` lends.
    public init(datasets: @escaping DatasetProvider) { self.datasets = datasets }

    /// A part of the answer: the bytes that clients get.
    ///
    /// `isStale` is passed on; `remotes` queries other servers, whose layers are refused without
    /// it. Throws `Failure`: `invalidParameter`, naming the parameter or a missing layer, and
    /// `tooLarge` for an invalid request, `cancelled` soon after `isCancelled` returns true and for
    /// a feature of more than `featureByteLimit` bytes, and whatever the datasets and `remotes`
    /// throw.
    public func answer(
        _ request: QueryRequest, in map: MapDescription, isStale: Bool = false,
        featureByteLimit: Int = .max, isCancelled: @escaping () -> Bool = { false },
        remotes: RemoteProvider? = nil
    ) throws(Failure) -> QueryAnswer {
        var (bytes, next) = try run(
            request, in: map, isCancelled, featureByteLimit: featureByteLimit, remotes: remotes
        ).answer()
        if let part = request.part, part.byteCount > 0 {
            bytes.removeFirst(min(part.byteCount, bytes.count))
        }
        return QueryAnswer(
            body: bytes, sequence: map.sequence, isStale: isStale, next: next)
    }

    /// Opens the data of the request's layer, and keeps them open; throws as
    /// ``answer(_:in:isStale:featureByteLimit:isCancelled:remotes:)`` does.
    public func prepare(
        _ request: QueryRequest, in map: MapDescription,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(Failure) {
        _ = try run(request, in: map, isCancelled)
    }

    /// Prepares the run of a request; throws as
    /// ``answer(_:in:isStale:featureByteLimit:isCancelled:remotes:)`` does.
    func run(
        _ request: QueryRequest, in map: MapDescription, _ isCancelled: @escaping () -> Bool,
        featureByteLimit: Int = .max, remotes: RemoteProvider? = nil
    ) throws(Failure) -> QueryRun {
        try request.check()
        let layer = try QueriedLayer(request, in: map)
        if layer.remote != nil {
            return try RemoteFetch(request, layer, by: remotes, isCancelled).run()
        }
        let (features, order) = try features(of: layer, in: map.name, isCancelled)
        return QueryRun(
            request: request, layer: layer, features: features, order: order,
            featureByteLimit: featureByteLimit, isCancelled: isCancelled,
            sight: try sight(of: layer, isCancelled))
    }
}

extension QueryEngine {
    /// The visible features of the layer; nil for all.
    private func sight(
        of layer: QueriedLayer, _ isCancelled: () -> Bool
    ) throws(Failure) -> FeatureSight? {
        guard let id = layer.dataset, let sight = layer.description.sight else { return nil }
        return try FeatureSight(sight, layer.fields, of: id) { () throws(Failure) in
            let dataset = try datasets(sight.dataset)
            return (dataset, try orders.order(sight.dataset, dataset, isCancelled))
        }
    }

    private func features(
        of layer: QueriedLayer, in map: MapName, _ isCancelled: () -> Bool
    ) throws(Failure) -> (EditedDataset, ObjectOrder) {
        guard let id = layer.dataset else { return try graphics.value(layer.description, in: map) }
        let dataset = try datasets(id)
        return try edited.value(dataset, layer.description, in: map) { features throws(Failure) in
            try ObjectOrder(try orders.order(id, dataset, isCancelled), under: features)
        }
    }
}

/// A layer that can be queried.
struct QueriedLayer {
    let description: LayerDescription
    /// Nil for graphics, and for a layer on another server.
    let dataset: ContentID?
    /// The source of a layer on another server; nil for any other.
    let remote: LayerSource?
    let fields: [FieldDescription]
    /// The spatial reference of its extent.
    let reference: SpatialReference

    /// Throws `Failure`, with a sentence, for an unknown layer, and for one that cannot be queried.
    init(_ request: QueryRequest, in map: MapDescription) throws(Failure) {
        guard let layer = map.layer(request.layer) else {
            throw .unknownLayer(request.layer)
        }
        func refusal(_ reason: String) -> Failure {
            Failure(.invalidParameter, "layer \(layer.id) '\(layer.name)' \(reason)")
        }
        switch layer.kind {
        case .group: throw refusal("is a group: query the layers in it")
        case .layer(.dataset(let id)): (dataset, remote) = (id, nil)
        case .layer(.graphics): (dataset, remote) = (nil, nil)
        case .layer(let source):
            guard case .featureService = source else {
                throw refusal(
                    "is a \(source.kindName) layer, which has no features to query: it is "
                        + "identified")
            }
            (dataset, remote) = (nil, source)
        }
        // The extent is available of a drawing-only layer, too.
        let isForExtent = request.isAuxiliary == true && request.result == .extent
        guard layer.isQueryable || isForExtent else { throw refusal("may not be queried") }
        let queried = layer.asQueried
        guard layer.loadStatus == .loaded, let properties = queried.properties else {
            let told = request.hidesInside == true ? nil : layer.loadError
            let reason = told.map { ": \($0.message)" } ?? ""
            throw Failure(
                .unavailable, "layer \(layer.id) '\(layer.name)' is not loaded\(reason)")
        }
        guard remote == nil || properties.service?.queryable.isEmpty == false else {
            throw refusal("is on a server that does not allow queries")
        }
        description = queried
        fields = properties.fields
        reference = map.referenceTold(of: properties)
    }

    /// The index of a field; throws `invalidParameter`, naming the parameter, for an unknown one.
    func column(_ name: String, _ parameter: String) throws(Failure) -> Int {
        let wanted = name.lowercased()
        guard let column = fields.firstIndex(where: { $0.name.lowercased() == wanted }) else {
            throw unknown(name, parameter)
        }
        return column
    }

    /// The failure for an unknown field.
    func unknown(_ name: String, _ parameter: String) -> Failure {
        let known = fields.prefix(12).map(\.name).joined(separator: ", ")
        return Failure(
            .invalidParameter,
            "parameter '\(parameter)': the layer has no field '\(name.prefix(80))'; it has "
                + known + (fields.count > 12 ? ", …" : ""))
    }
}

extension QueryRequest {
    /// Throws `invalidParameter` or `tooLarge`, naming the parameter, for values out of range.
    func check() throws(Failure) {
        func need(
            _ condition: Bool, _ sentence: @autoclosure () -> String,
            _ code: Failure.Code = .invalidParameter
        ) throws(Failure) {
            if !condition { throw Failure(code, sentence()) }
        }
        try need(at == nil || atTime == nil, "at and atTime: expected at most one of them")
        let idCount = objectIDs?.count ?? 0
        try need(
            idCount <= QueryLimits.objectIDs,
            "objectIds: \(idCount) ids, expected at most \(QueryLimits.objectIDs)", .tooLarge)
        for (name, count) in [
            ("outStatistics", statistics.count), ("orderByFields", order.count),
            ("groupByFieldsForStatistics", groupFields.count),
        ] {
            try need(
                count <= QueryLimits.columns,
                "\(name): \(count), expected at most \(QueryLimits.columns)",
                .tooLarge)
        }
        try need(offset >= 0, "resultOffset \(offset): expected 0 or more")
        try need(limit ?? 0 >= 0, "resultRecordCount \(limit ?? 0): expected 0 or more")
        if let offset = maxAllowableOffset {
            try need(
                offset >= 0 && offset.isFinite, "maxAllowableOffset \(offset): expected 0 or more")
        }
        try need(
            groupFields.isEmpty || !statistics.isEmpty,
            "groupByFieldsForStatistics requires outStatistics")
        try need(having == nil || !statistics.isEmpty, "having requires outStatistics")
        if let part {
            try need(
                part.row >= 0 && part.isPlausible && part.place == nil,
                "invalid continuation token")
        }
        let textByteCount = text?.utf8.count ?? 0
        try need(
            textByteCount <= QueryLimits.textBytes,
            "text: \(textByteCount) bytes, expected at most \(QueryLimits.textBytes)", .tooLarge)
        guard let filter = spatialFilter else { return }
        if filter.relation == .pattern || filter.pattern != nil {
            let letters = (filter.pattern ?? "").unicodeScalars
            try need(
                filter.relation == .pattern && letters.count == 9
                    && letters.allSatisfy { "TF*012".unicodeScalars.contains($0) },
                "relationParam: expected nine letters of T, F, *, 0, 1 and 2, with spatialRel "
                    + "esriSpatialRelRelation")
        }
        let count = filter.geometry.coordinateCount
        try need(
            1...QueryLimits.coordinates ~= count,
            "geometry: \(count) coordinates, expected 1 to \(QueryLimits.coordinates)",
            count == 0 ? .invalidParameter : .tooLarge)
        let box = filter.geometry.envelope
        try need(
            box.isFinite && filter.geometry.isFinite
                && max(abs(box.minX), abs(box.minY), abs(box.maxX), abs(box.maxY))
                    <= QueryLimits.ordinate,
            "geometry: expected numbers between -\(QueryLimits.ordinate) and "
                + "\(QueryLimits.ordinate)")
        if let meters = filter.distanceMeters {
            try need(
                0...QueryLimits.distanceMeters ~= meters,
                "distance: expected 0 to \(Int(QueryLimits.distanceMeters / 1000)) kilometres")
        }
    }
}

extension QueryPart {
    /// Whether its byte counts are in range, so that arithmetic on them cannot overflow.
    var isPlausible: Bool {
        0...QueryLimits.partOffset ~= byteCount && 0...QueryLimits.partOffset ~= totalByteCount
    }
}

extension Shape {
    fileprivate var isFinite: Bool {
        switch self {
        case .point(let coordinate): coordinate.isFinite
        case .multipoint(let coordinates): coordinates.allSatisfy(\.isFinite)
        case .polyline(let parts), .polygon(let parts):
            parts.allSatisfy { $0.allSatisfy(\.isFinite) }
        case .envelope(let box): box.isFinite
        }
    }
}
