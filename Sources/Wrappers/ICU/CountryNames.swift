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

    /// ISO 3166-1 alpha-2 of an alpha-3 code in capitals; nil for a code unknown to ICU.
    public static func alpha2(ofAlpha3 code: String) -> String? { alpha2Codes[code] }

    private static let alpha2Codes: [String: String] = {
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }
        var result: [String: String] = [:]
        for first in letters {
            for second in letters {
                let alpha3 = unsafe String(cString: cairn_icu_alpha3("und_" + first + second))
                if alpha3.utf8.count == 3 { result[alpha3] = result[alpha3] ?? first + second }
            }
        }
        return result
    }()
}
