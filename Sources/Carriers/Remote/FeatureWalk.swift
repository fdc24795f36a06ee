// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import Expression

/// The features of a layer of another server, gathered page after page, until a page has none.
///
/// What came is not asked for again: by rising object id where the server orders features, else by
/// naming what is known. No page is trusted to be the last because it is short: servers give fewer
/// than they say that they would, and not all say `exceededTransferLimit`. Only a page that says
/// `exceededTransferLimit` false and is no full one is followed by none. Ends, marked as cut, at
/// the bounds and at a page that brings nothing new.
struct FeatureWalk {
    /// The most features, about: no page is asked for after that.
    static let featureBound = 20_000
    /// The most bytes of answers that are read; no page is asked for after that.
    static let answerBound = 64 << 20
    /// The most requests.
    static let callBound = 100
    /// How many object ids of a list in a clause every database takes.
    private static let listBound = 1_000

    private let key: String
    /// The most features of an answer, as the server says; nil where it gives no pages.
    private let pageSize: Int?
    /// Whether features come by rising object id, as far as is known.
    private var isOrdered: Bool
    private(set) var features: [RemoteAnswer.Feature] = []
    private(set) var shortfall: Failure?
    private var ids: Set<Int64> = []
    private var byteCount = 0
    private var callCount = 0
    /// The most features asked for at once; nil for as many as the server gives.
    private var limit: Int?

    /// - Parameter limit: The most features asked for at once, of a server that gives pages.
    init(of properties: LayerProperties, limit: Int? = nil) {
        key = properties.fields.first?.name ?? ""
        pageSize = properties.service?.pageSize
        self.limit = pageSize.flatMap { size in limit.map { min($0, size) } }
        isOrdered = pageSize != nil && key.isPlainName
    }

    /// What must hold of features that are still to come; nil for all.
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

    /// What the next request asks besides.
    var parameters: [(name: String, value: String)] {
        (isOrdered ? [("orderByFields", key + " ASC")] : [])
            + (limit.map { [("resultRecordCount", "\($0)")] } ?? [])
    }

    /// Takes a page: nil where the next is to be asked for, else whether there may be more.
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
        // Without a name for what is known nothing tells whether a short page is all.
        guard canAsk else { return page.isCut || isFull }
        return features.count > known && canGoOn ? nil : true
    }

    /// Takes that a page was more than can be read at once: false where it cannot be asked for in
    /// less.
    mutating func asksForFewer() -> Bool {
        callCount += 1
        guard let size = limit ?? pageSize, size > 1, callCount < Self.callBound else {
            return false
        }
        limit = max(1, min(size, RemoteServices.featuresAtOnce) / 4)
        return true
    }

    /// Whether what is known can be named.
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
