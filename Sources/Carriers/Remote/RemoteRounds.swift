// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Expat
internal import Geometry

/// What a server answered to requests that were sent together, in their order.
typealias WebAnswers = [Result<WebResponse, WebError>]

/// The way to what is wanted of a layer of another server, in one round of requests or several.
///
/// Pure: it says what to send, and takes what came.
protocol RemoteRounds<Outcome>: Sendable {
    /// What is wanted.
    associatedtype Outcome: Sendable
    /// What fails as a whole, for the circuit breaker.
    var service: String { get }
    /// What is to be sent now, all at once; one request at least.
    var calls: [RemoteCall] { get }
    /// How many bytes of each answer are read.
    var byteLimit: Int { get }
    /// Takes the answers to ``calls``: the outcome, or nil where ``calls`` are to be sent again,
    /// which are others now.
    mutating func take(_ answers: WebAnswers) throws(Failure) -> Outcome?
    /// What there is although no more can be had: throws the failure where that is nothing.
    func outcome(despite failure: Failure) throws(Failure) -> Outcome
}

extension RemoteRounds {
    func outcome(despite failure: Failure) throws(Failure) -> Outcome { throw failure }
}

/// The features that one request tells of.
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
    /// Throws `unreadable` for what is no picture, with what the server says instead.
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
