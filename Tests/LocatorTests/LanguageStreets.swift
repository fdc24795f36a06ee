// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// Streets of a language as on their sign, each with its usual spellings and abbreviations.
struct LanguageStreets: Sendable, CustomTestStringConvertible {
    var language: String
    /// Alpha-2.
    var country: String
    var towns: [String]
    /// `$s` street, `$n` house number, `$t` town.
    var order: String
    /// In full, and short.
    var streets: [(full: String, short: String)]

    var testDescription: String { language }

    /// A line is `full = short`.
    private init(
        _ language: String, _ country: String, _ towns: String, _ order: String, _ text: String
    ) {
        self.language = language
        self.country = country
        self.towns = towns.split(separator: "|").map(String.init)
        self.order = order
        streets = text.split(separator: "\n").compactMap { line in
            guard let sign = line.firstRange(of: " = ") else { return nil }
            return (String(line[..<sign.lowerBound]), String(line[sign.upperBound...]))
        }
    }

    static let all: [LanguageStreets] = [
        LanguageStreets(
            "German", "DE", "Neustadt|Oberhausen|Tübingen|Bad Homburg", "$s $n, $t",
            """
            Hauptstraße = Hauptstr.
            Bahnhofstraße = Bahnhofstr
            Goethestraße = Göthestrasse
            Berliner Straße = Berliner Str.
            Frankfurter Straße = Frankfurterstr.
            Lindenstraße = Linden Str.
            Gartenstraße = Garten-Straße
            Münchner Straße = Muenchner Str.
            Konrad-Adenauer-Straße = Konrad-Adenauer-Str.
            Professor-Sauerbruch-Straße = Prof.-Sauerbruch-Str.
            Doktor-Robert-Koch-Weg = Dr.-Robert-Koch-Weg
            Sankt-Martin-Straße = St.-Martin-Str.
            Bürgermeister-Schmidt-Weg = Bgm.-Schmidt-Weg
            Marktplatz = Marktpl.
            Rathausplatz = Rathaus Platz
            Alte Landstraße = Alte Landstr.
            Straße des 17. Juni = Str. d. 17. Juni
            General-Scharnhorst-Allee = Gen.-Scharnhorst-Allee
            An der Alten Mühle = A. d. Alten Mühle
            Kirchgasse = Kirchg.
            Große Bleiche = Gr. Bleiche
            Friedrich-Ebert-Platz = Friedr.-Ebert-Pl.
            """),
        LanguageStreets(
            "Spanish", "ES", "Alcalá|Torrejón|Villanueva|Santa Cruz", "$s, $n, $t",
            """
            Calle Mayor = C/ Mayor
            Calle de Alcalá Galiano = C. Alcalá Galiano
            Calle Santa Teresa = C/ Sta. Teresa
            Avenida de la Constitución = Avda. Constitución
            Avenida de América = Av. de América
            Plaza de España = Pza. España
            Plaza Nueva = Pl. Nueva
            Paseo de la Castellana = Pº de la Castellana
            Paseo del Prado = P.º del Prado
            Carretera de Valencia = Ctra. de Valencia
            Camino de los Molinos = Cno. de los Molinos
            Travesía de San Roque = Trva. S. Roque
            Ronda de Toledo = Rda. Toledo
            Glorieta de Quevedo = Gta. de Quevedo
            Calle del Doctor Fleming = C/ Dr. Fleming
            Calle General Ricardos = C. Gral. Ricardos
            Calle Nuestra Señora del Pilar = C/ Ntra. Sra. del Pilar
            Callejón del Gato = Cjón. del Gato
            Pasaje de los Olmos = Pje. Olmos
            Urbanización Los Pinos = Urb. Los Pinos
            Calle Capitán Haya = C/ Cap. Haya
            """),
        LanguageStreets(
            "Catalan", "AD", "Escaldes|Ordino|Encamp|Canillo", "$s, $n, $t",
            """
            Carrer Major = C/ Major
            Carrer de la Unió = c. de la Unió
            Carrer del Doctor Vilanova = C/ Dr. Vilanova
            Avinguda Meritxell = Av. Meritxell
            Avinguda de Tarragona = Avda. Tarragona
            Avinguda del Príncep Benlloch = Av. Príncep Benlloch
            Plaça del Poble = Pl. del Poble
            Plaça de la Rotonda = Pça. Rotonda
            Passeig de l'Arnaldeta = Pg. de l'Arnaldeta
            Passatge Antònia Font = Ptge. Antònia Font
            Carretera de la Rabassa = Ctra. Rabassa
            Camí de la Grau = Cí. de la Grau
            Travessera de Gràcia = Trav. de Gràcia
            Rambla Molines = Rbla. Molines
            Carrer de Sant Antoni = C. St. Antoni
            Carrer de Santa Anna = C/ Sta. Anna
            Ronda de Sant Pere = Rda. St. Pere
            Carrer del Bisbe Caixal = c/ Bbe. Caixal
            Baixada del Molí = Bda. del Molí
            """),
        LanguageStreets(
            "Italian", "IT", "Castelfranco|Sant'Angelo|Monteverde|Borgonuovo", "$s $n, $t",
            """
            Via Roma = V. Roma
            Via Giuseppe Garibaldi = Via Gius. Garibaldi
            Via San Francesco d'Assisi = Via S. Francesco d'Assisi
            Via Santa Lucia = V. S. Lucia
            Viale della Repubblica = V.le Repubblica
            Viale Monte Grappa = V.le M.te Grappa
            Piazza del Duomo = P.za Duomo
            Piazza dei Martiri = P.zza dei Martiri
            Piazzale Loreto = P.le Loreto
            Corso Vittorio Emanuele = C.so Vitt. Emanuele
            Corso Buenos Aires = C.so Buenos Aires
            Largo Augusto = L.go Augusto
            Vicolo dell'Olmo = V.lo dell'Olmo
            Strada Provinciale = Str. Prov.
            Contrada Fontana = C.da Fontana
            Borgo Stretto = B.go Stretto
            Via Generale Cantore = Via Gen. Cantore
            Via Dottor Rossi = Via Dott. Rossi
            Via Fratelli Bandiera = Via F.lli Bandiera
            Via Monsignor Bianchi = Via Mons. Bianchi
            Località Pian di Sco = Loc. Pian di Sco
            """),
        LanguageStreets(
            "Portuguese", "PT", "Vila Nova|Matosinhos|São Brás|Aveiro", "$s, $n, $t",
            """
            Rua Direita = R. Direita
            Rua de Santa Catarina = R. Sta. Catarina
            Rua de São João = R. S. João
            Rua Doutor António Granjo = R. Dr. António Granjo
            Rua Engenheiro Duarte Pacheco = R. Eng. Duarte Pacheco
            Rua Professor Egas Moniz = R. Prof. Egas Moniz
            Avenida da Liberdade = Av. da Liberdade
            Avenida dos Aliados = Avª dos Aliados
            Avenida General Roçadas = Av. Gen. Roçadas
            Praça do Comércio = Pç. do Comércio
            Praça da República = Pça. República
            Praceta das Flores = Pct. das Flores
            Travessa do Carmo = Tv. do Carmo
            Travessa da Fonte = Trav. da Fonte
            Largo do Rato = Lg. do Rato
            Estrada de Benfica = Estr. de Benfica
            Calçada da Ajuda = Cç. da Ajuda
            Alameda das Linhas = Al. das Linhas
            Beco do Mirante = Bc. do Mirante
            Rua Nossa Senhora da Luz = R. N. Sra. da Luz
            """),
        LanguageStreets(
            "Dutch", "NL", "Leiden|Oosterbeek|Nieuwegein|'s-Hertogenbosch", "$s $n, $t",
            """
            Kerkstraat = Kerkstr.
            Dorpsstraat = Dorpsstr
            Stationsweg = Stationswg
            Molenlaan = Molenln.
            Marktplein = Marktpln.
            Wilhelminakade = Wilhelminakd
            Prinsengracht = Prinsengr.
            Nieuwe Kerkstraat = Nw. Kerkstr.
            Van Limburg Stirumlaan = v. Limburg Stirumln.
            Burgemeester de Vlugtlaan = Burg. de Vlugtln
            Doctor Lelykade = Dr. Lelykd.
            Professor Lorentzlaan = Prof. Lorentzlaan
            Prins Hendrikstraat = Pr. Hendrikstr.
            Koningin Julianaplein = Kon. Julianapln.
            Eerste Helmersstraat = 1e Helmersstr.
            Tweede Jan Steenstraat = 2e Jan Steenstr.
            Sint Jansstraat = St. Jansstr.
            Oude Delft = Oude Delft
            Grote Markt = Gr. Markt
            Hoofdweg = Hoofd weg
            """),
        LanguageStreets(
            "Polish", "PL", "Łódź|Zielona Góra|Bielsko|Świdnica", "ul. $s $n, $t",
            """
            Długa = Dluga
            Piotrkowska = Piotrkowska
            Jana Pawła II = J. Pawła II
            Świętego Marcina = Św. Marcina
            Generała Andersa = Gen. Andersa
            Księdza Popiełuszki = Ks. Popiełuszki
            Profesora Bartla = Prof. Bartla
            Doktora Jordana = Dr. Jordana
            Marszałka Piłsudskiego = Marsz. Piłsudskiego
            Kardynała Wyszyńskiego = Kard. Wyszyńskiego
            Aleje Jerozolimskie = Al. Jerozolimskie
            Aleja Niepodległości = Al. Niepodległości
            Plac Wolności = Pl. Wolności
            Osiedle Piastowskie = Os. Piastowskie
            Powstańców Śląskich = Powst. Śląskich
            Pułkownika Dąbka = Płk. Dąbka
            Mikołaja Kopernika = Mikołaja Kopernika
            Wojska Polskiego = Woj. Polskiego
            Biskupa Bandurskiego = Bpa Bandurskiego
            Trzeciego Maja = 3 Maja
            """),
        LanguageStreets(
            "Czech", "CZ", "Kladno|České Budějovice|Ústí|Hradec", "$s $n, $t",
            """
            Dlouhá = ul. Dlouhá
            Nádražní = Nadrazni
            Náměstí Míru = nám. Míru
            Masarykovo náměstí = Masarykovo nám.
            Husova třída = Husova tř.
            Lidická třída = Lidická tř.
            Rašínovo nábřeží = Rašínovo nábř.
            Generála Píky = gen. Píky
            Doktora Zikmunda Wintra = Dr. Zikmunda Wintra
            Svatého Jana = sv. Jana
            Profesora Hlaváčka = prof. Hlaváčka
            Velké náměstí = Vel. nám.
            28. října = ul. 28.října
            17. listopadu = 17.listopadu
            Na Příkopě = Na prikope
            U Lesa = ul. U Lesa
            Sídliště Vajgar = sídl. Vajgar
            Plukovníka Mráze = plk. Mráze
            Pražská = ul. Prazska
            Horní Brána = Hor. Brána
            """),
        LanguageStreets(
            "Slovak", "SK", "Nitra|Trenčín|Žilina|Košice", "$s $n, $t",
            """
            Hlavná = ul. Hlavná
            Štúrova = Štúrova ul.
            Námestie Slobody = Nám. Slobody
            Hviezdoslavovo námestie = Hviezdoslavovo nám.
            Námestie svätého Egídia = Nám. sv. Egídia
            Trieda SNP = Tr. SNP
            Generála Svobodu = gen. Svobodu
            Doktora Clementisa = Dr. Clementisa
            Profesora Sáru = prof. Sáru
            Slovenského národného povstania = Slov. nár. povstania
            Ľudovíta Štúra = Ľ. Štúra
            Milana Rastislava Štefánika = M. Rastislava Štefánika
            Dunajské nábrežie = Dunajské nábr.
            Sídlisko Juh = Sídl. Juh
            Mierová = Mierova
            Železničná = ul. Zeleznicna
            Veľká okružná = Veľ. okružná
            Pod Hájom = ul. Pod Hájom
            Kapitána Nálepku = kpt. Nálepku
            Kráľa Svätopluka = kr. Svätopluka
            """),
        LanguageStreets(
            "Danish", "DK", "Roskilde|Næstved|Århus|Sønderborg", "$s $n, $t",
            """
            Kirkevej = Kirkev.
            Nørregade = Nørreg.
            Skovvej = Skovv
            Søndre Strandvej = Sdr. Strandv.
            Nordre Ringvej = Ndr. Ringv.
            Gammel Kongevej = Gl. Kongev.
            Sankt Annæ Plads = Skt. Annæ Pl.
            Rådhuspladsen = Raadhuspladsen
            Store Kongensgade = St. Kongensg.
            Lille Strandstræde = Ll. Strandstr.
            Vester Voldgade = V. Voldg.
            Øster Allé = Ø. Alle
            H.C. Andersens Boulevard = HC Andersens Blvd.
            Gammeltorv = Gammeltv.
            Østergade = Oestergade
            Prinsesse Maries Allé = Prs. Maries Alle
            Doktor Priemes Vej = Dr. Priemes Vej
            Bakkegårdsvej = Bakkegaardsvej
            Nygade = Ny gade
            Frederiks Plads = Frederiks Pl.
            """),
        LanguageStreets(
            "Swedish", "SE", "Västerås|Örebro|Malmö|Jönköping", "$s $n, $t",
            """
            Storgatan = Storg.
            Kungsgatan = Kungsg.
            Drottninggatan = Drottningg
            Järnvägsgatan = Jarnvagsg.
            Skolvägen = Skolv.
            Södra Vägen = S. Vägen
            Norra Strandgatan = N. Strandg.
            Östra Kyrkogatan = Ö. Kyrkog.
            Västra Hamngatan = V. Hamng.
            Stora Torget = St. Torget
            Gamla Stadsvägen = Gla. Stadsv.
            Sankt Eriksgatan = S:t Eriksg.
            Sankta Gertruds väg = S:ta Gertruds v.
            Lilla Nygatan = L. Nyg.
            Esplanaden = Espl.
            Kyrkoplan = Kyrkopl.
            Götgatan = Goetgatan
            Björkgränd = Björkgr.
            Vasagatan = Vasa gatan
            Karl Johansgatan = K. Johansg.
            """),
        LanguageStreets(
            "Norwegian", "NO", "Tromsø|Ålesund|Hamar|Bodø", "$s $n, $t",
            """
            Storgata = Storg.
            Kirkegata = Kirkegt.
            Kongens gate = Kongens gt.
            Dronningens gate = Dronningens g.
            Karl Johans gate = Karl Johans gt
            Skoleveien = Skolev.
            Fjellvegen = Fjellv.
            Nordre gate = Ndr. gate
            Søndre Brekkevei = Sdr. Brekkev.
            Gamle Riksvei = Gl. Riksv.
            Sankt Olavs plass = St. Olavs pl.
            Professor Dahls gate = Prof. Dahls gt.
            Doktor Holms vei = Dr. Holms v.
            Christian Krohgs gate = Chr. Krohgs gate
            Torggata = Torggt.
            Rådhusplassen = Rådhuspl.
            Østre Aker vei = Ø. Aker vei
            Åsveien = Aasveien
            Bjørnstjerne Bjørnsons vei = Bjoernstjerne Bjoernsons v.
            Strandgata = Strand gata
            """),
        LanguageStreets(
            "Finnish", "FI", "Jyväskylä|Hämeenlinna|Kouvola|Seinäjoki", "$s $n, $t",
            """
            Kauppakatu = Kauppak.
            Mannerheimintie = Mannerheimint.
            Aleksanterinkatu = Aleksanterink.
            Koulukuja = Koulukj.
            Rantatie = Rantat.
            Kirkkotie = Kirkko tie
            Pohjoinen Rautatiekatu = Pohj. Rautatiek.
            Eteläinen Hesperiankatu = Et. Hesperiank.
            Itäinen Pitkäkatu = It. Pitkäk.
            Läntinen Rantakatu = Länt. Rantak.
            Hämeenkatu = Hameenk.
            Metsäpolku = Metsäp.
            Asemakatu = Asemak
            Keskustori = Keskustr.
            Pohjoisesplanadi = Pohjoisespl.
            Yliopistonkatu = Yliopistonk.
            Urheilutie = Urheilut.
            Tehtaankatu = Tehtaank.
            Iso Roobertinkatu = Iso Roobertink.
            Vanha Turuntie = V. Turuntie
            """),
        LanguageStreets(
            "Hungarian", "HU", "Győr|Székesfehérvár|Pécs|Szeged", "$s $n., $t",
            """
            Fő utca = Fő u.
            Petőfi Sándor utca = Petőfi S. u.
            Kossuth Lajos utca = Kossuth Lajos u.
            József Attila utca = József Attila u
            Bajcsy-Zsilinszky út = Bajcsy-Zs. út
            Deák Ferenc tér = Deák F. tér
            Hősök tere = Hősök tere
            Erzsébet körút = Erzsébet krt.
            Teréz körút = Teréz krt
            Szent István tér = Szt. István tér
            Rákóczi út = Rakoczi ut
            Ady Endre köz = Ady Endre köz
            Dunai rakpart = Dunai rkp.
            Margit sétány = Margit stny.
            Váci utca = Váci u.
            Arany János utca = Arany János u.
            Móricz Zsigmond körtér = Móricz Zsigmond körtér
            Gróf Széchenyi utca = Gr. Széchenyi u.
            Alsó fasor = Alsó fs.
            Nyár utca = Nyár u.
            """),
        LanguageStreets(
            "Romanian", "RO", "Brașov|Iași|Târgoviște|Pitești", "$s nr. $n, $t",
            """
            Strada Lungă = Str. Lungă
            Strada Mihai Eminescu = M. Eminescu
            Strada Republicii = Republicii
            Strada Sfântul Ioan = Str. Sf. Ioan
            Bulevardul Unirii = Bd. Unirii
            Bulevardul Carol I = B-dul Carol I
            Bulevardul Independenței = Bdul. Independentei
            Calea Victoriei = Cal. Victoriei
            Piața Sfatului = P-ța Sfatului
            Piața Unirii = Pta. Unirii
            Șoseaua Kiseleff = Șos. Kiseleff
            Splaiul Dunării = Spl. Dunarii
            Aleea Trandafirilor = Al. Trandafirilor
            Intrarea Rozelor = Intr. Rozelor
            Fundătura Morii = Fdt. Morii
            Strada Doctor Babeș = Str. Dr. Babeș
            Strada General Berthelot = Str. Gen. Berthelot
            Strada Profesor Ion Bogdan = Str. Prof. Ion Bogdan
            Strada Alexandru Ioan Cuza = Str. Al. Ioan Cuza
            Strada Ștefan cel Mare = Str. Șt. cel Mare
            """),
        LanguageStreets(
            "Croatian", "HR", "Zadar|Šibenik|Čakovec|Osijek", "$s $n, $t",
            """
            Ilica = ul. Ilica
            Vukovarska ulica = Vukovarska ul.
            Ulica Matije Gupca = Matije Gupca
            Ulica kralja Tomislava = kralja Tomislava
            Trg bana Jelačića = Trg b. Jelacica
            Avenija Dubrovnik = Av. Dubrovnik
            Ulica svetog Nikole = Ul. sv. Nikole
            Ulica Stjepana Radića = Stj. Radića
            Ulica grada Vukovara = Ul. grada Vukovara
            Šetalište Frane Tuđmana = Šet. Frane Tuđmana
            Obala kneza Branimira = Obala kn. Branimira
            Ulica hrvatskih branitelja = Ul. hrv. branitelja
            Ulica doktora Ante Starčevića = dr. Ante Starčevića
            Zagrebačka cesta = Zagrebačka c.
            Ulica Ivana Gundulića = I. Gundulića
            Dubrovačka ulica = Dubrovacka
            Trg svete Ane = Trg sv. Ane
            Prilaz Gjure Deželića = Pril. Gjure Dezelica
            Ulica kardinala Stepinca = Ul. kard. Stepinca
            Gornja ulica = Gornja
            """),
        LanguageStreets(
            "Slovene", "SI", "Celje|Ptuj|Škofja Loka|Novo mesto", "$s $n, $t",
            """
            Slovenska cesta = Slovenska c.
            Prešernova ulica = Prešernova ul.
            Cankarjeva ulica = Cankarjeva
            Trg svobode = Trg svobode
            Ulica narodnih herojev = Ul. nar. herojev
            Celovška cesta = Celovska c.
            Dunajska cesta = Dunajska c
            Ulica Ivana Cankarja = Ul. I. Cankarja
            Stara cesta = St. cesta
            Gregorčičeva ulica = Gregorciceva ul.
            Ulica svetega Petra = Ul. sv. Petra
            Zgornji trg = Zg. trg
            Spodnji trg = Sp. trg
            Tržaška cesta = Tržaška c.
            Naselje heroja Maroka = Nas. heroja Maroka
            Vodnikova ulica = Vodnikova
            Kidričeva ulica = Kidriceva ul.
            Ulica doktorja Slanca = Ul. dr. Slanca
            Cesta v Mestni log = C. v Mestni log
            Jakčeva ulica = Jakceva
            """),
        LanguageStreets(
            "Turkish", "TR", "Eskişehir|Kütahya|Çorum|Iğdır", "$s No: $n, $t",
            """
            Atatürk Caddesi = Atatürk Cad.
            Cumhuriyet Caddesi = Cumhuriyet Cd.
            İstiklal Caddesi = Istiklal Cad
            Gazi Mustafa Kemal Bulvarı = Gazi M. Kemal Blv.
            İnönü Bulvarı = Inonu Bul.
            Çiçek Sokak = Çiçek Sk.
            Gül Sokağı = Gul Sok.
            1234. Sokak = 1234 Sk.
            Karanfil Sokak = Karanfil Sok.
            Doktor Fahri Atabey Caddesi = Dr. Fahri Atabey Cad.
            Kızılay Meydanı = Kızılay Myd.
            Yeni Mahalle Yolu = Yeni Mah. Yolu
            Şehit Ali Sokak = Şht. Ali Sk.
            Barış Manço Caddesi = Baris Manco Cd.
            Büyükdere Caddesi = Buyukdere Cad.
            Ankara Yolu = Ankara Yl.
            Fevzi Çakmak Bulvarı = Fevzi Cakmak Blv.
            Lale Çıkmazı = Lale Çkm.
            Hürriyet Caddesi = Hurriyet Cd.
            Profesör Aziz Sancar Caddesi = Prof. Aziz Sancar Cad.
            """),
        LanguageStreets(
            "Greek", "GR", "Θεσσαλονίκη|Πάτρα|Λάρισα|Βόλος", "$s $n, $t",
            """
            Ερμού = οδός Ερμού
            Σταδίου = οδ. Σταδίου
            Λεωφόρος Κηφισίας = Λεωφ. Κηφισίας
            Λεωφόρος Συγγρού = Λ. Συγγρού
            Πλατεία Συντάγματος = Πλ. Συντάγματος
            Πλατεία Ομονοίας = Πλ. Ομονοιας
            Αγίου Δημητρίου = Αγ. Δημητρίου
            Αγίας Σοφίας = Αγ. Σοφίας
            Βασιλέως Γεωργίου = Βασ. Γεωργίου
            Βασιλίσσης Όλγας = Βασ. Όλγας
            Εθνικής Αντίστασης = Εθν. Αντίστασης
            Στρατηγού Μακρυγιάννη = Στρ. Μακρυγιάννη
            Κωνσταντίνου Παλαιολόγου = Κων. Παλαιολόγου
            Μεγάλου Αλεξάνδρου = Μεγ. Αλεξάνδρου
            Ελευθερίου Βενιζέλου = Ελ. Βενιζέλου
            28ης Οκτωβρίου = 28ης Οκτωβριου
            Τσιμισκή = Τσιμισκη
            Πάροδος Κανάρη = Πάρ. Κανάρη
            Νικολάου Πλαστήρα = Νικ. Πλαστήρα
            Ναυάρχου Κουντουριώτη = Ναυ. Κουντουριώτη
            """),
        LanguageStreets(
            "Russian", "RU", "Тверь|Йошкар-Ола|Орёл|Нижний Тагил", "$t, $s, $n",
            """
            улица Ленина = ул. Ленина
            улица Пушкина = Пушкина
            проспект Мира = пр-т Мира
            Невский проспект = Невский пр.
            Ленинский проспект = Ленинский просп.
            площадь Революции = пл. Революции
            Садовый переулок = Садовый пер.
            набережная Степана Разина = наб. Степана Разина
            Тверской бульвар = Тверской б-р
            Московское шоссе = Московское ш.
            улица Академика Королёва = ул. Акад. Королева
            улица Маршала Жукова = Маршала Жукова
            улица Генерала Карбышева = ул. Ген. Карбышева
            Большая Садовая улица = Б. Садовая ул.
            Малая Бронная улица = М. Бронная
            улица Героев Труда = ул. Героев Труда
            Заводской проезд = Заводской пр-д
            Глухой тупик = Глухой туп.
            1-я Парковая улица = 1-я Парковая
            улица Профессора Попова = ул. Проф. Попова
            аллея Славы = ал. Славы
            """),
        LanguageStreets(
            "Ukrainian", "UA", "Львів|Чернівці|Полтава|Київ", "вул. $s, $n, $t",
            """
            Січових Стрільців = Сiчових Стрільців
            вулиця Шевченка = Шевченка
            вулиця Лесі Українки = Лесі Українки
            вулиця Івана Франка = І. Франка
            проспект Свободи = просп. Свободи
            проспект Перемоги = пр-т Перемоги
            Садовий провулок = Садовий пров.
            бульвар Тараса Шевченка = бульв. Т. Шевченка
            площа Ринок = пл. Ринок
            Андріївський узвіз = Андріївський узв.
            вулиця Академіка Павлова = вул. Акад. Павлова
            вулиця Генерала Чупринки = вул. Ген. Чупринки
            Харківське шосе = Харківське ш.
            набережна Дніпра = наб. Дніпра
            вулиця Михайла Грушевського = вул. М. Грушевського
            вулиця Богдана Хмельницького = вул. Б. Хмельницького
            вулиця Святого Миколая = вул. Св. Миколая
            Велика Васильківська вулиця = В. Васильківська
            вулиця Незалежності = Незалежності
            Соборна вулиця = Соборна
            """),
        LanguageStreets(
            "English", "US", "Springfield|Fairview|Cedar Rapids|Saint Paul", "$n $s, $t",
            """
            Main Street = Main St
            North Main Street = N. Main St.
            Fifth Avenue = 5th Ave
            First Street = 1st St.
            South Eighth Street Northwest = S 8th St NW
            Martin Luther King Junior Boulevard = Martin Luther King Jr Blvd
            Saint Charles Avenue = St. Charles Ave.
            Mount Vernon Highway = Mt Vernon Hwy
            Cedar Heights Drive = Cedar Hts Dr
            Maple Grove Lane = Maple Grv Ln
            Lake Shore Parkway = Lk Shore Pkwy
            Forest Ridge Trail = Forest Rdg Trl
            Orchard Valley Circle = Orchard Vly Cir
            Old Mill Turnpike = Old Mill Tpke
            Sunset Terrace = Sunset Ter
            Kings Crossing Plaza = Kings Xing Plz
            Doctor Andrews Way = Dr. Andrews Way
            General Booth Expressway = Gen Booth Expy
            Willow Springs Court = Willow Spgs Ct
            Fort Washington Place = Ft Washington Pl
            """),
        LanguageStreets(
            "British", "GB", "Ashford|Kingston|Market Harborough|Saint Ives", "$n $s, $t",
            """
            High Street = High St
            Church Lane = Church Ln
            Victoria Road = Victoria Rd.
            Kings Close = Kings Cl.
            Queens Crescent = Queens Cres
            Albert Gardens = Albert Gdns
            Station Approach = Station App
            Belgrave Square = Belgrave Sq
            Orchard Grove = Orchard Gr.
            Eaton Mews = Eaton Ms
            Saint Johns Terrace = St Johns Terr
            The Parade = The Pde
            Hill Rise = Hl Rise
            Windsor Court = Windsor Ct
            North Circular Road = N Circular Rd
            Upper Brook Street = Upr Brook St
            Park Avenue = Pk Ave
            Green Walk = Grn Wlk
            Mill Bank = Ml Bank
            Great Western Esplanade = Gt Western Esp
            """),
        LanguageStreets(
            "French", "FR", "Villeneuve|Saint-Denis|Beaumont|Rochefort", "$n $s, $t",
            """
            Rue de la République = R. de la République
            Avenue du Général de Gaulle = Av. du Gal de Gaulle
            Boulevard Maréchal Foch = Bd Mal Foch
            Place du Marché = Pl. du Marché
            Chemin des Écoliers = Ch. des Écoliers
            Impasse du Docteur Roux = Imp. Dr Roux
            Route de Sainte-Anne = Rte de Ste-Anne
            Allée des Tilleuls = All. des Tilleuls
            Faubourg Saint-Antoine = Fbg St-Antoine
            Rue du Premier Mai = R. du 1er Mai
            Rue du Capitaine Dreyfus = Rue du Cne Dreyfus
            Quai du Président Wilson = Q. Pdt Wilson
            Résidence du Grand Parc = Rés. Gd Parc
            Lotissement les Chênes = Lot. les Chênes
            Cours du Commandant Charcot = Crs Cdt Charcot
            Rue Notre-Dame = R. N.-D.
            Square du Professeur Calmette = Sq. Pr Calmette
            Traverse de la Vieille Ferme = Trav. Vle Ferme
            Montée du Château = Mte du Chât
            Rue de l'Église = R. de l'Egl.
            """),
    ]
}
