// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The release of these sources.
public enum Release {
    /// Its number, as programs say it and events name their producers.
    public static let version = "0.1.0"
}
