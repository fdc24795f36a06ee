// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Expat
internal import Geometry

/// The answers to one round of requests, in their order.
typealias WebAnswers = [Result<WebResponse, WebError>]

/// The rounds of requests that produce one layer's outcome.
///
/// Pure: it returns the requests and takes the answers.
protocol RemoteRounds<Outcome>: Sendable {
    /// The result of the rounds.
    associatedtype Outcome: Sendable
    /// The unit of failure for the circuit breaker.
    var service: String { get }
    /// The next requests, all sent at once; at least one.
    var calls: [RemoteCall] { get }
    /// Most bytes read of each answer.
    var byteLimit: Int { get }
    /// Takes the answers to ``calls``: the outcome, or nil where ``calls`` are to be sent again,
    /// which are others now.
    mutating func take(_ answers: WebAnswers) throws(Failure) -> Outcome?
    /// The partial outcome when no more can be fetched; throws the failure if there is none.
    func outcome(despite failure: Failure) throws(Failure) -> Outcome
}

extension RemoteRounds {
    func outcome(despite failure: Failure) throws(Failure) -> Outcome { throw failure }
}

/// A search for features in a single request.
struct OneSearch: RemoteRounds {
    let layer: any RemoteLayer
    let call: RemoteCall
    let question: RemoteQuestion

    var service: String { Breakers.service(call.url) }
    var calls: [RemoteCall] { [call] }
    var byteLimit: Int { RemoteServices.answerBytes }

    mutating func take(_ answers: WebAnswers) throws(Failure) -> RemoteAnswer? {
        try layer.answer(try answers.only(), to: question)
    }
}

/// One picture for one request.
struct OnePicture: RemoteRounds {
    let call: RemoteCall
    let question: RemotePictureQuestion
    let extent: Envelope

    var service: String { Breakers.service(call.url) }
    var calls: [RemoteCall] { [call] }
    var byteLimit: Int { RemoteServices.answerBytes }

    mutating func take(_ answers: WebAnswers) throws(Failure) -> RemotePicture? {
        let response = try answers.only()
        try response.checkPicture()
        return RemotePicture(
            .mosaic(
                RemotePicture.Mosaic(
                    columns: 1, rows: 1, pieceWidth: question.width, pieceHeight: question.height,
                    extent: extent, spatialReference: question.spatialReference,
                    pieces: [response.body])))
    }
}

extension WebAnswers {
    /// The answer to the one request that was sent.
    func only() throws(Failure) -> WebResponse {
        guard let first else { throw Failure(.internal, "its response was lost") }
        do throws(WebError) { return try first.get() } catch {
            throw RemoteServices.failure(error)
        }
    }
}

extension WebResponse {
    /// Throws `unreadable` for an answer that is not a picture, with an excerpt of it.
    func checkPicture() throws(Failure) {
        if contentType.hasPrefix("image/"), !contentType.contains("svg") { return }
        let first = body.first { ![32, 9, 10, 13, 0xEF, 0xBB, 0xBF].contains($0) }
        if first == UInt8(ascii: "<"), let root = try? XMLReader.read(body),
            let text = WMSException.text(in: root)
        {
            throw Failure(.unreadable, "it answered: \(text)")
        }
        if first == UInt8(ascii: "{") { _ = try ArcGIS.tree(self) }
        throw Failure(
            .unreadable, "it answered with '\(contentType.excerpt(60))' instead of a picture")
    }
}
