// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// The time zone of this process: that of TZ, and UTC where TZ is not set.
public enum LocalTime {
    /// Seconds by which local time is ahead of UTC at a moment, in seconds since 1970.
    public static func offset(at seconds: Int64) -> Int64 {
        guard unsafe getenv("TZ") != nil else { return 0 }
        tzset()
        var moment = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&moment, &parts) != nil else { return 0 }
        return Int64(unsafe parts.tm_gmtoff)
    }
}
