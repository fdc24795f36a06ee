// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The release of these sources.
public enum Release {
    /// The version number in programs and in the producers of events.
    public static let version = "0.1.0"
}
