// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl

/// The features of a layer near a place, by `query`, until the server has no more: the nearest may
/// come last.
///
/// At a page that fails once there are features it ends as one that is cut, with the reason.
struct FeatureSearch: RemoteRounds {
    private let layer: FeatureServiceLayer
    private let question: RemoteQuestion
    private var walk: FeatureWalk

    init(_ question: RemoteQuestion, of layer: FeatureServiceLayer) {
        self.question = question
        self.layer = layer
        walk = FeatureWalk(of: question.properties)
    }

    var service: String { Breakers.service(layer.url) }
    var byteLimit: Int { RemoteServices.answerBytes }

    var calls: [RemoteCall] {
        var call = layer.call(question, clause: walk.clause(question.clause))
        call.parameters += walk.parameters
        return [call]
    }

    mutating func take(_ answers: WebAnswers) throws(Failure) -> RemoteAnswer? {
        let (page, byteCount): (RemoteAnswer, Int)
        do throws(Failure) {
            let response = try answers.only()
            byteCount = response.body.count
            page = try layer.answer(response, to: question)
        } catch {
            if error.code == .tooLarge, walk.asksForFewer() { return nil }
            return try outcome(despite: error)
        }
        return walk.take(page, byteCount: byteCount).map { answer(isCut: $0) }
    }

    func outcome(despite failure: Failure) throws(Failure) -> RemoteAnswer {
        guard !walk.features.isEmpty else { throw failure }
        var answer = answer(isCut: true)
        answer.shortfall = answer.shortfall ?? failure
        return answer
    }

    private func answer(isCut: Bool) -> RemoteAnswer {
        RemoteAnswer(
            features: walk.features, isCut: isCut, shortfall: walk.shortfall, isSuperset: true)
    }
}
