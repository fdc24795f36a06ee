// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Expression
internal import Geometry

/// The features of a layer near a place, by `query`, until the server has no more: the nearest may come last.
///
/// What came is not asked for again: by rising object id where the server orders features, else by naming what is
/// known. It ends, and says that there are more, at its bounds, at a page that brings nothing new, and at one that
/// fails once there are features: then with the reason.
struct FeatureSearch: RemoteRounds {
    /// The most features of one search, about: no page is asked for after that.
    static let featureBound = 20_000
    /// The most bytes of answers that it reads; no page is asked for after that.
    static let answerBound = 64 << 20
    /// The most requests.
    static let callBound = 100
    /// How many object ids of a list in a clause every database takes.
    private static let listBound = 1_000

    private let layer: FeatureServiceLayer
    private let question: RemoteQuestion
    private let key: String
    /// Whether features come by rising object id, as far as is known.
    private var isOrdered: Bool
    private var features: [RemoteAnswer.Feature] = []
    private var shortfall: Failure?
    private var ids: Set<Int64> = []
    private var byteCount = 0
    private var callCount = 0
    /// The most features asked for at once; nil for as many as the server gives.
    private var limit: Int?

    init(_ question: RemoteQuestion, of layer: FeatureServiceLayer) {
        self.question = question
        self.layer = layer
        key = question.properties.fields.first?.name ?? ""
        isOrdered = question.properties.service?.pageSize != nil && key.isPlainName
    }

    var service: String { Breakers.service(layer.url) }
    var byteLimit: Int { RemoteServices.answerBytes }

    var calls: [RemoteCall] {
        var clauses = question.clause.map { [$0] } ?? []
        if let last = features.last?.id, isOrdered {
            clauses.append("\(key) > \(last)")
        } else {
            let known = ids.sorted()
            for start in stride(from: 0, to: known.count, by: Self.listBound) {
                let list = known[start..<min(start + Self.listBound, known.count)]
                clauses.append("\(key) NOT IN (\(list.map { "\($0)" }.joined(separator: ",")))")
            }
        }
        var call = layer.call(
            question, clause: clauses.isEmpty ? nil : clauses.joined(separator: " AND "))
        if isOrdered { call.parameters.append(("orderByFields", key + " ASC")) }
        if let limit { call.parameters.append(("resultRecordCount", "\(limit)")) }
        return [call]
    }

    mutating func take(_ answers: WebAnswers) throws(Failure) -> RemoteAnswer? {
        callCount += 1
        let page: RemoteAnswer
        do throws(Failure) {
            let response = try answers.only()
            byteCount += response.body.count
            page = try layer.answer(response, to: question)
        } catch {
            if error.code == .tooLarge, asksForFewer() { return nil }
            return try outcome(despite: error)
        }
        shortfall = shortfall ?? page.shortfall
        let known = features.count
        // An object id that comes again is the same feature.
        features += page.features.filter { $0.id.map { ids.insert($0).inserted } ?? true }
        if isOrdered { isOrdered = isRising(from: known) }
        // Not every server says that there is more where it was asked for so many.
        let hasMore = page.isCut || limit.map { page.features.count >= $0 } ?? false
        return hasMore && features.count > known && canGoOn ? nil : answer(isCut: hasMore)
    }

    func outcome(despite failure: Failure) throws(Failure) -> RemoteAnswer {
        guard !features.isEmpty else { throw failure }
        var answer = answer(isCut: true)
        answer.shortfall = answer.shortfall ?? failure
        return answer
    }

    private func answer(isCut: Bool) -> RemoteAnswer {
        RemoteAnswer(features: features, isCut: isCut, shortfall: shortfall, isSuperset: true)
    }

    /// Whether what is behind an answer can be asked for.
    private var canGoOn: Bool {
        key.isPlainName && ids.count == features.count && ids.count < Self.featureBound
            && byteCount < Self.answerBound && callCount < Self.callBound
    }

    /// Whether the features, of which the first ones do, come by rising object id.
    private func isRising(from known: Int) -> Bool {
        let new = features[max(0, known - 1)...]
        return zip(new, new.dropFirst()).allSatisfy { $0.id ?? .max < $1.id ?? .min }
    }

    /// Asks for fewer at once; false where that cannot be, or can be no fewer.
    private mutating func asksForFewer() -> Bool {
        guard let size = limit ?? question.properties.service?.pageSize, size > 1,
            callCount < Self.callBound
        else { return false }
        limit = max(1, min(size, RemoteServices.featuresAtOnce) / 4)
        return true
    }
}
