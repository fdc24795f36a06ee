// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The outcome of an in-line request.
public enum PromptAnswer: Hashable, Sendable {
    /// The answer.
    case answer(IdentifyAnswer)
    /// Data have to be opened or prepared first; a regular request does so.
    case unprepared
    /// It is expensive, waits for another server, or is of a kind that may.
    case elsewhere
}

/// The budget of an in-line request: available data and little time.
///
/// Work beyond it throws, like a cancelled request.
final class PromptBudget {
    /// Limit of features within the tolerance, of one layer.
    static let nearLimit = 256
    /// Limit of feature pieces tested exactly, of one layer.
    static let pieceLimit = 2_048
    /// Limit of graphics of a layer.
    static let graphicLimit = 1_000
    /// Limit of coordinates of all geometries of an answer.
    static let coordinateLimit = 4_096

    /// Whether the time limit has passed.
    let isOver: () -> Bool
    private var isUnprepared = false
    private var coordinatesLeft = PromptBudget.coordinateLimit

    init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }

    /// The outcome of a request that gave up.
    var reason: PromptAnswer { isUnprepared ? .unprepared : .elsewhere }

    /// The failure for data that are not available yet.
    func lack() -> Failure {
        isUnprepared = true
        return Self.givenUp
    }

    /// The failure for work that may be slow, however well prepared.
    func giveUp() -> Failure { Self.givenUp }

    /// Charges coordinates; throws beyond the limit.
    func take(coordinates count: Int) throws(Failure) {
        coordinatesLeft -= count
        if coordinatesLeft < 0 { throw giveUp() }
    }

    private static let givenUp = Failure(.cancelled, "the request cannot be answered in line")
}
