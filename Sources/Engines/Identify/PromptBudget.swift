// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// What came of asking for an answer that is at hand.
public enum PromptAnswer: Hashable, Sendable {
    /// The answer.
    case answer(IdentifyAnswer)
    /// Something has to be opened or made first; once the request was answered at leisure, it is
    /// there.
    case unprepared
    /// It takes long, waits for somebody, or is of a kind that may.
    case elsewhere
}

/// Keeps one request to what is at hand and soon done.
///
/// Whatever would wait or take long gives up instead, as if the request had been cancelled.
final class PromptBudget {
    /// The most features that are near enough, of one layer.
    static let nearLimit = 256
    /// The most pieces of features tested exactly, of one layer.
    static let pieceLimit = 2_048
    /// The most graphics of a layer.
    static let graphicLimit = 1_000
    /// The most coordinates of all geometries of an answer.
    static let coordinateLimit = 4_096

    /// Whether the time is over.
    let isOver: () -> Bool
    private var isUnprepared = false
    private var coordinatesLeft = PromptBudget.coordinateLimit

    init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }

    /// What a request that gave up comes to.
    var reason: PromptAnswer { isUnprepared ? .unprepared : .elsewhere }

    /// What to throw where something is not there yet.
    func lack() -> Failure {
        isUnprepared = true
        return Self.givenUp
    }

    /// What to throw where something may take long, however well it is prepared.
    func giveUp() -> Failure { Self.givenUp }

    /// Gives up where an answer gets too many coordinates.
    func take(coordinates count: Int) throws(Failure) {
        coordinatesLeft -= count
        if coordinatesLeft < 0 { throw giveUp() }
    }

    private static let givenUp = Failure(.cancelled, "this cannot be answered at once")
}
