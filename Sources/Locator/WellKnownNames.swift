// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Names of countries and abbreviations of regions that GeoNames' small files leave out, but that
/// people write in addresses.
enum WellKnownNames {
    /// Other names of a country, by alpha-2 code.
    static let countries = table(
        """
        AE=UAE|Emirates|الإمارات العربية المتحدة
        AF=افغانستان
        AL=Shqipëria
        AM=Հայաստան
        AR=Argentine|Argentinien
        AT=Österreich|Oesterreich|Autriche
        AU=Australien|Australie
        AZ=Azərbaycan
        BA=Bosnia|Bosna i Hercegovina
        BD=বাংলাদেশ
        BE=België|Belgique|Belgien
        BG=България
        BR=Brasil|Brasilien|Brésil
        BY=Беларусь
        CA=Kanada
        CD=DR Congo|DRC|Congo Kinshasa|Democratic Republic of Congo
        CG=Congo|Congo Brazzaville
        CH=Schweiz|Suisse|Svizzera|Helvetia|Confoederatio Helvetica
        CI=Côte d'Ivoire|Ivory Coast
        CN=中国|中國|China PR|People's Republic of China|PRC|Chine|Kina
        CV=Cabo Verde|Cape Verde
        CY=Κύπρος|Kıbrıs
        CZ=Czechia|Czech Republic|Česko|Česká republika|Tschechien
        DE=Deutschland|Allemagne|Alemania|Germania|Tyskland|Duitsland|Niemcy
        DK=Danmark|Dänemark
        DO=República Dominicana
        DZ=Algérie|الجزائر
        EE=Eesti|Estland
        EG=مصر|Égypte
        ES=España|Espagne|Spanien|Espanya|Spagna|Espainia
        ET=ኢትዮጵያ
        FI=Suomi|Finnland|Finlande
        FR=Frankreich|Francia|Frankrijk
        GB=UK|Great Britain|Britain|United Kingdom|Vereinigtes Königreich|Royaume-Uni|Reino Unido
        GE=საქართველო|Sakartvelo
        GR=Ελλάδα|Ελλάς|Hellas|Griechenland|Grèce
        HK=香港|Hongkong
        HR=Hrvatska|Kroatien|Croatie
        HU=Magyarország|Ungarn|Hongrie
        ID=Indonesien|Indonésie
        IE=Éire|Republic of Ireland|Irland|Irlande
        IL=ישראל
        IN=Bharat|भारत|Indien|Inde
        IQ=العراق
        IR=ایران|Islamic Republic of Iran
        IS=Ísland
        IT=Italia|Italien|Italie
        JO=الأردن
        JP=日本|Nippon|Nihon|Japon|日本国
        KG=Кыргызстан
        KH=កម្ពុជា
        KP=North Korea|DPRK|조선
        KR=South Korea|Republic of Korea|Korea|대한민국|한국
        KW=الكويت
        KZ=Қазақстан|Казахстан
        LA=Laos|Lao
        LB=لبنان|Liban
        LK=ශ්‍රී ලංකාව
        LT=Lietuva|Litauen
        LU=Luxemburg|Lëtzebuerg
        LV=Latvija|Lettland
        LY=Libya|ليبيا
        MA=Maroc|المغرب
        MD=Moldova
        ME=Crna Gora
        MK=Macedonia|North Macedonia|Северна Македонија
        MM=Burma|Myanmar|Myanmar Burma
        MN=Монгол улс
        MO=Macau|澳門
        MX=México|Mexique|Mexiko
        NG=Naija
        NL=Nederland|Holland|Niederlande|Pays-Bas|The Netherlands|Países Bajos
        NO=Norge|Noreg|Norwegen|Norvège
        NP=नेपाल
        NZ=Aotearoa|Neuseeland
        OM=عمان
        PE=Perú
        PH=Pilipinas|The Philippines
        PK=پاکستان
        PL=Polska|Polen|Pologne
        PS=Palestine|فلسطين
        QA=قطر
        RO=România|Rumänien|Roumanie
        RS=Srbija|Србија|Serbien
        RU=Russian Federation|Россия|Russland|Russie|Rusia
        SA=KSA|المملكة العربية السعودية
        SE=Sverige|Schweden|Suède
        SG=新加坡
        SI=Slovenija|Slowenien
        SK=Slovensko|Slowakei
        SN=Sénégal
        SY=Syria|سوريا
        SZ=Eswatini|Swaziland
        TH=ไทย|ประเทศไทย
        TJ=Тоҷикистон
        TL=East Timor|Timor-Leste
        TN=Tunisie|تونس
        TR=Türkiye|Turkiye|Türkei|Turquie
        TW=臺灣|台灣|台湾|ROC
        TZ=Tanzania
        UA=Україна|Украина
        US=USA|United States of America|America|Estados Unidos|Vereinigte Staaten|États-Unis|Stati Uniti
        UZ=Oʻzbekiston
        VA=Vatican City|Vatican|Holy See
        VE=Venezuela
        VN=Việt Nam|Viet Nam
        XK=Kosova|Kosovo
        YE=اليمن
        ZA=South Africa|RSA|Suid-Afrika|Südafrika
        """)

    /// Other names of a region, by GeoNames' code; the first is its abbreviation.
    ///
    /// The regions of the
    /// United States need none: their GeoNames code is the postal abbreviation.
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
