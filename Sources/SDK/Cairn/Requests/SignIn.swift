// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How one question is signed: with the stored credential, a renewed one, then by a challenge.
struct SignIn {
    private let question: Question
    private var given: (any ArcGISCredential)?
    private var wasRenewed = false
    private var wasChallenged = false
    private var lateCount = 0
    private let endedCount: Int

    init(_ question: Question) {
        self.question = question
        given = question.credential
        endedCount = CairnEnvironment.authenticationManager.endedCount(question.url)
    }

    func credential() async throws -> (any ArcGISCredential)? {
        guard !question.isAnonymous else { return nil }
        return given
            ?? CairnEnvironment.authenticationManager.arcGISCredentialStore
            .credential(for: question.url)
    }

    /// Whether the question is to be asked again.
    mutating func renews(
        after error: ServiceError, refused: (any ArcGISCredential)?
    ) async throws -> Bool {
        let manager = CairnEnvironment.authenticationManager
        // Another request has signed in meanwhile.
        if given == nil, lateCount < 2,
            let stored = manager.arcGISCredentialStore.credential(for: question.url),
            stored !== refused
        {
            lateCount += 1
            return true
        }
        if let refused, !wasRenewed {
            wasRenewed = true
            if error.code == 498, await refused.invalidate() { return true }
        }
        guard !wasChallenged else {
            throw AuthenticationManager.refusal(question.url.origin ?? "", error)
        }
        wasChallenged = true
        // A credential of the question's own stands outside the store.
        let known =
            given == nil ? refused : manager.arcGISCredentialStore.credential(for: question.url)
        given = try await manager.challenge(
            question.url, error, refused: known, tried: refused, known: endedCount)
        return given != nil
    }
}
