// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import Locator

@Suite struct FoldingTests {
    private func fold(_ text: String) -> String {
        String(decoding: Folder.fold(text).bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("São Paulo", "sao paulo"), ("ÎLE-DE-FRANCE", "ile de france"), ("Łódź", "lodz"),
        ("Þórshöfn", "thorshofn"), ("Æbeltoft", "aebeltoft"), ("Straße", "strasse"),
        ("İstanbul", "istanbul"), ("Iğdır", "igdir"), ("Đà Nẵng", "da nang"),
        ("Coeur d’Alene", "coeur dalene"), ("L'Aquila", "laquila"), ("St. Louis", "st louis"),
        ("St.Louis", "st louis"), ("Washington, D.C.", "washington dc"), ("U.S.A.", "usa"),
        ("Bosnia & Herzegovina", "bosnia and herzegovina"), ("Frankfurt (Oder)", "frankfurt oder"),
        ("Ｔｏｋｙｏ", "tokyo"), ("ﬁlip", "filip"), ("Αθήνα", "αθηνα"), ("Ναύπλιος", "ναυπλιοσ"),
        ("Орёл", "орел"), ("Київ", "киів"), ("القاهِرَة", "القاهره"), ("أسوان", "اسوان"),
        ("תל־אביב", "תל אביב"), ("東京都", "東京都"), ("दिल्ली", "दिल्ली"), ("서울", "서울"),
        ("  \t\u{0}x\u{200B}y ", "xy"), ("!?…", ""), ("", ""),
    ])
    func `letters lose case, marks and punctuation`(text: String, folded: String) {
        #expect(fold(text) == folded)
    }

    @Test(arguments: [
        ("Zu\u{308}rich", "Zürich"), ("Й", "И\u{306}"),
        ("\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}", "서울"),
        ("か\u{3099}", "が"), ("Ha\u{300} No\u{323}\u{302}i", "Hà Nội"),
    ])
    func `composed and decomposed texts are one`(left: String, right: String) {
        // Compared as bytes: Swift's own comparison would call them equal before folding.
        #expect(Folder.fold(left).bytes == Folder.fold(right).bytes)
    }

    @Test func `umlauts can be read as two letters`() {
        let folded = Folder.fold("Düsseldorf Ørsta", expandingUmlauts: true)

        #expect(String(decoding: folded.bytes, as: UTF8.self) == "duesseldorf oersta")
    }

    @Test func `commas part segments, and the last word may be unfinished`() {
        let folded = Folder.fold("New York,, NY, U")

        #expect(folded.segments == [0, 0, 1, 2])
        #expect(folded.letters == [3, 4, 2, 1])
        #expect(folded.endsInsideWord)
        #expect(!Folder.fold("Paris ").endsInsideWord)
        #expect(!Folder.fold("Paris,").endsInsideWord)
    }

    @Test func `folding a folded text changes nothing`() throws {
        for city in Sample.cities {
            let once = fold(city.name)

            #expect(fold(once) == once)
        }
    }
}
