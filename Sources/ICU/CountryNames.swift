// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CICU

/// The names of countries in many languages, by CLDR's data in ICU.
public enum CountryNames {
    /// The name of a country, ISO 3166-1 alpha-2, in a language (BCP 47); nil where ICU has none.
    public static func name(of country: String, in language: String) -> String? {
        var length: Int32 = 0
        let units = unsafe [UInt16](unsafeUninitializedCapacity: 256) { buffer, count in
            length = unsafe cairn_icu_country(
                "und_" + country, language, buffer.baseAddress, 256)
            count = min(max(0, Int(length)), 256)
        }
        guard 1...256 ~= length else { return nil }
        let name = String(decoding: units, as: UTF16.self)
        return name == country ? nil : name
    }
}
