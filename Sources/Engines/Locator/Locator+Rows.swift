// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension Locator {
    /// The best candidate for one row of a table; `name` is the requested name of the locator, and
    /// `fields` are the parts of the address, nil for a single line.
    ///
    /// Nil for no match, and also for an unusable text or an unknown country: an invalid row counts
    /// as not found, and does not fail the job. Throws any other `Failure`.
    public func bestCandidate(
        for singleLine: String, fields: AddressFields? = nil, in countryCodes: [String],
        asking name: String
    ) throws(Failure) -> Candidate? {
        do throws(Failure) {
            var request = GeocodeRequest(
                locator: name, singleLine: singleLine, countryCodes: countryCodes, maxLocations: 1)
            request.fields = fields
            return try geocode(request).candidates.first
        } catch {
            guard error.code == .invalidParameter || error.code == .tooLarge else { throw error }
            return nil
        }
    }
}
