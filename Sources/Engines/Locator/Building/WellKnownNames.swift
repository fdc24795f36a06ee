// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Names of countries and abbreviations of regions that are common in addresses, but missing in
/// GeoNames' small files.
enum WellKnownNames {
    /// The languages, BCP 47, of the countries' names from CLDR in ICU.
    static let languages = [
        "en", "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "es", "et", "fa", "fi", "fr", "he",
        "hi",
        "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "km", "ko", "lo", "lt", "lv", "mk",
        "mn",
        "ms", "my", "nb", "ne", "nl", "pl", "pt", "ro", "ru", "si", "sk", "sl", "sq", "sr", "sv",
        "sw",
        "ta", "th", "tr", "uk", "ur", "uz", "vi", "zh", "zh-Hant",
    ]

    /// Alternate names of countries missing in CLDR, by alpha-2 code.
    static let countries = table(
        """
        AE=UAE|Emirates
        BA=Bosnia
        CD=DR Congo|DRC|Congo Kinshasa|Democratic Republic of Congo
        CG=Congo|Congo Brazzaville
        CH=Helvetia|Confoederatio Helvetica
        CI=Ivory Coast
        CN=China PR|People's Republic of China|PRC
        CV=Cape Verde
        CZ=Czech Republic|Česká republika
        GB=UK|Great Britain|Britain|United Kingdom
        GR=Ελλάς|Hellas
        IE=Republic of Ireland
        IR=Islamic Republic of Iran
        JP=Nippon|Nihon|日本国
        KP=North Korea|DPRK|조선
        KR=South Korea|Republic of Korea|Korea|한국
        LA=Laos|Lao
        MD=Moldova
        MK=Macedonia
        MM=Burma|Myanmar
        MO=Macau|澳門
        NG=Naija
        NL=Holland|The Netherlands
        NZ=Aotearoa
        PH=The Philippines
        PS=Palestine
        RU=Russian Federation
        SA=KSA
        SY=Syria
        SZ=Eswatini|Swaziland
        TH=ประเทศไทย
        TL=East Timor
        TR=Türkiye|Turkiye|Turkey
        TW=臺灣|台灣|ROC
        TZ=Tanzania
        US=USA|United States of America|America
        VA=Vatican|Holy See
        VN=Viet Nam
        XK=Kosova
        ZA=RSA
        """)

    /// Alternate names of regions, by GeoNames' code; the first is the abbreviation.
    ///
    /// The regions of the United States need none: their GeoNames code is the postal abbreviation.
    static let regions = table(
        """
        AT.02=Ktn|Kärnten
        AT.03=NÖ|Niederösterreich
        AT.04=OÖ|Oberösterreich
        AT.06=Stmk|Steiermark
        AT.07=T|Tirol
        AT.09=W|Wien
        AU.01=ACT
        AU.02=NSW
        AU.03=NT
        AU.04=QLD
        AU.05=SA
        AU.06=TAS
        AU.07=VIC
        AU.08=WA
        BE.VLG=VLG|Vlaanderen
        BE.WAL=WAL|Wallonie
        BR.05=BA
        BR.06=CE
        BR.07=DF|Distrito Federal
        BR.11=MS
        BR.13=MA
        BR.14=MT
        BR.15=MG
        BR.16=PA
        BR.18=PR
        BR.21=RJ
        BR.23=RS
        BR.26=SC
        BR.27=SP
        BR.29=GO
        BR.30=PE
        CA.01=AB
        CA.02=BC|Colombie-Britannique
        CA.03=MB
        CA.04=NB|Nouveau-Brunswick
        CA.05=NL|Newfoundland|Labrador
        CA.07=NS|Nouvelle-Écosse
        CA.08=ON
        CA.09=PE|PEI
        CA.10=QC|PQ|Québec
        CA.11=SK
        CA.12=YT
        CA.13=NT|NWT
        CA.14=NU
        CH.GE=GE|Genève
        CH.LU=LU|Luzern
        DE.01=BW|Baden-Württemberg
        DE.02=BY|Bayern
        DE.03=HB|Bremen
        DE.04=HH|Hamburg
        DE.05=HE|Hessen
        DE.06=NI|Niedersachsen
        DE.07=NRW|NW|Nordrhein-Westfalen
        DE.08=RP|Rheinland-Pfalz
        DE.09=SL|Saarland
        DE.10=SH|Schleswig-Holstein
        DE.11=BB|Brandenburg
        DE.12=MV|Mecklenburg-Vorpommern
        DE.13=SN|Sachsen
        DE.14=ST|Sachsen-Anhalt
        DE.15=TH|Thüringen
        DE.16=BE|Berlin
        ES.51=AN|Andalucía
        ES.56=CT|Catalunya|Cataluña
        ES.59=PV|País Vasco|Euskadi
        IT.09=LOM|Lombardia
        IT.12=PIE|Piemonte
        IT.15=SIC|Sicilia
        IT.16=TOS|Toscana
        MX.09=CDMX|DF|Ciudad de México
        """)

    private static func table(_ text: String) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            result[String(parts[0])] = parts[1].split(separator: "|").map(String.init)
        }
        return result
    }
}
