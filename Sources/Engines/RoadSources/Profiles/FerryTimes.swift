// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How long ferries take that do not say so.
enum FerryTimes {
    /// Kilometres per hour of the shortest ones.
    static let slowest = 5.0

    /// Seconds of a line of a length in metres, with what it takes to board: cable ferries creep,
    /// long lines run at 30 km/h.
    static func seconds(length: Double) -> Double {
        let kilometersPerHour: Double =
            switch length {
            case ..<1_000: slowest
            case ..<5_000: 10
            case ..<30_000: 20
            default: 30
            }
        return length * 3.6 / kilometersPerHour
    }
}
