// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import Expression

/// The features of a layer on another server, gathered page by page until a page is empty.
///
/// Received features are not requested again: by rising object id where the server orders features,
/// else by excluding known ids. A short page is not taken for the last: servers give fewer features
/// than their declared page size, and not all send `exceededTransferLimit`. Only a short page with
/// `exceededTransferLimit` false ends the walk without another request. It ends, marked as cut, at
/// the bounds and at a page without new features.
struct FeatureWalk {
    /// Approximate bound on features: no page is requested beyond it.
    static let featureBound = 20_000
    /// Bound on the bytes of answers: no page is requested beyond it.
    static let answerBound = 64 << 20
    /// The most requests.
    static let callBound = 100
    /// Longest list of object ids in a clause that every database accepts.
    private static let listBound = 1_000

    private let key: String
    /// The server's declared page size; nil for a server without paging.
    private let pageSize: Int?
    /// Whether features come by rising object id, as far as known.
    private var isOrdered: Bool
    private(set) var features: [RemoteAnswer.Feature] = []
    private(set) var shortfall: Failure?
    private var ids: Set<Int64> = []
    private var byteCount = 0
    private var callCount = 0
    /// Page size of a request; nil for the server's own.
    private var limit: Int?

    /// - Parameter limit: Page size of a request, for a server with paging.
    init(of properties: LayerProperties, limit: Int? = nil) {
        key = properties.fields.first?.name ?? ""
        pageSize = properties.service?.pageSize
        self.limit = pageSize.flatMap { size in limit.map { min($0, size) } }
        isOrdered = pageSize != nil && key.isPlainName
    }

    /// The condition for the features still to come; nil for all.
    func clause(_ clause: String?) -> String? {
        var clauses = clause.map { [$0] } ?? []
        if let last = features.last?.id, isOrdered {
            clauses.append("\(key) > \(last)")
        } else {
            let known = ids.sorted()
            for start in stride(from: 0, to: known.count, by: Self.listBound) {
                let list = known[start..<min(start + Self.listBound, known.count)]
                clauses.append("\(key) NOT IN (\(list.map { "\($0)" }.joined(separator: ",")))")
            }
        }
        return clauses.isEmpty ? nil : clauses.joined(separator: " AND ")
    }

    /// Further parameters of the next request.
    var parameters: [(name: String, value: String)] {
        (isOrdered ? [("orderByFields", key + " ASC")] : [])
            + (limit.map { [("resultRecordCount", "\($0)")] } ?? [])
    }

    /// Takes a page: nil when another is to be requested, else whether there may be more.
    mutating func take(_ page: RemoteAnswer, byteCount: Int) -> Bool? {
        callCount += 1
        self.byteCount += byteCount
        shortfall = shortfall ?? page.shortfall
        let known = features.count
        // An object id that comes again is the same feature.
        features += page.features.filter { $0.id.map { ids.insert($0).inserted } ?? true }
        if isOrdered { isOrdered = isRising(from: known) }
        if page.features.isEmpty { return page.isCut }
        let isFull = page.features.count >= limit ?? pageSize ?? .max
        if page.isSaidWhole, !isFull { return false }
        // Without a way to exclude known features, a short page may or may not be the last.
        guard canAsk else { return page.isCut || isFull }
        return features.count > known && canGoOn ? nil : true
    }

    /// Reduces the page size after an oversized page; false when it cannot be reduced.
    mutating func asksForFewer() -> Bool {
        callCount += 1
        guard let size = limit ?? pageSize, size > 1, callCount < Self.callBound else {
            return false
        }
        limit = max(1, min(size, RemoteServices.featuresAtOnce) / 4)
        return true
    }

    /// Whether the known features can be excluded by id.
    private var canAsk: Bool { key.isPlainName && ids.count == features.count }

    private var canGoOn: Bool {
        ids.count < Self.featureBound && byteCount < Self.answerBound && callCount < Self.callBound
    }

    /// Whether the features, of which the first ones do, come by rising object id.
    private func isRising(from known: Int) -> Bool {
        let new = features[max(0, known - 1)...]
        return zip(new, new.dropFirst()).allSatisfy { $0.id ?? .max < $1.id ?? .min }
    }
}
