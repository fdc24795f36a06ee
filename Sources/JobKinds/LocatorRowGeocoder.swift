// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Locator

/// Finds one row of a table at a time in one locator, whatever its name stands for meanwhile.
public struct LocatorRowGeocoder: RowGeocoder {
    private let locator: Locator
    private let name: String

    /// Answers from `locator` as the locator called `name`.
    public init(locator: Locator, name: String) {
        self.locator = locator
        self.name = name
    }

    /// The best candidate; nil when nothing matches, and also for a text that cannot be searched or a
    /// country that does not exist: a bad row is not found, it does not end the job.
    public func bestCandidate(
        singleLine: String, countryCodes: [String]
    ) throws -> Candidate? {
        do throws(Failure) {
            return try locator.geocode(
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
