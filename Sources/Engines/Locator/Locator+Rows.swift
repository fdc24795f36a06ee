// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension Locator {
    /// The best candidate for one row of a table; `name` is what the locator was asked for as.
    ///
    /// Nil when nothing matches, and also for a text that cannot be searched or a country that does
    /// not exist: a bad row is not found, it does not end the job. Throws any other `Failure`.
    public func bestCandidate(
        for singleLine: String, in countryCodes: [String], asking name: String
    ) throws(Failure) -> Candidate? {
        do throws(Failure) {
            return try geocode(
                GeocodeRequest(
                    locator: name, singleLine: singleLine, countryCodes: countryCodes,
                    maxLocations: 1)
            ).candidates.first
        } catch {
            guard error.code == .invalidParameter || error.code == .tooLarge else { throw error }
            return nil
        }
    }
}
