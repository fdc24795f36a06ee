// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which letters are read as which: `a=ÀÁ` says that À and Á are read as a.
///
/// Made from the compatibility decompositions of Unicode 15 without the marks of Latin, Greek,
/// Cyrillic, Hebrew and Arabic, joined with the letters Unicode does not take apart (ß, æ, ø, ł …),
/// Arabic letters that are written for one another, Hebrew final forms and decimal digits. Plain
/// lower-casing is not listed.
enum FoldingTable {
    static let entries = #"""
        0=٠۰ 1=¹١۱ 2=²٢۲ 3=³٣۳ 4=٤۴ 5=٥۵ 6=٦۶ 7=٧۷ 8=٨۸ 9=٩۹
        a=ªÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ ae=ÆæǢǣǼǽ a=ẚ b=ƀƁɃɓḂḃḄḅḆḇ
        c=ÇçĆćĈĉĊċČčḈḉ d=ÐðĎďĐđƉƊɖɗḊḋḌḍḎḏḐḑḒḓ dz=ǄǅǆǱǲǳ
        e=ÈÉÊËèéêëĒēĔĕĖėĘęĚěƏƐȄȅȆȇȨȩəɛḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ f=ƑƒḞḟ ff=ﬀ ffi=ﬃ ffl=ﬄ fi=ﬁ fl=ﬂ
        g=ĜĝĞğĠġĢģƔǤǥǦǧǴǵɣḠḡ h=ĤĥĦħȞȟḢḣḤḥḦḧḨḩḪḫẖ i=ÌÍÎÏìíîïĨĩĪīĬĭĮįİıƖƗǏǐȈȉȊȋɨɩḬḭḮḯỈỉỊị ij=Ĳĳ
        j=Ĵĵǰ k=ĶķĸƘƙǨǩḰḱḲḳḴḵ l=ĹĺĻļĽľĿŀŁłḶḷḸḹḺḻḼḽ lj=Ǉǈǉ m=ḾḿṀṁṂṃ n=ÑñŃńŅņŇňŉǸǹṄṅṆṇṈṉṊṋ ng=Ŋŋ
        nj=Ǌǋǌ o=ºÒÓÔÕÖØòóôõöøŌōŎŏŐőƆƠơǑǒǪǫǬǭǾǿȌȍȎȏȪȫȬȭȮȯȰȱɔṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔ o=ổỖỗỘộỚớỜờỞởỠỡỢợ
        oe=Œœ p=ṔṕṖṗ r=ŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟ s=ŚśŜŝŞşŠšſȘșṠṡṢṣṤṥṦṧṨṩẛ ss=ßẞ st=ﬅﬆ t=ŢţŤťŦŧȚțṪṫṬṭṮṯṰṱẗ
        th=Þþ u=ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗɄʉṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữ u=Ựự v=ƲʋṼṽṾṿ
        w=ŴŵẀẁẂẃẄẅẆẇẈẉẘ x=ẊẋẌẍ y=ÝýÿŶŷŸƳƴȲȳẎẏẙỲỳỴỵỶỷỸỹ z=ŹźŻżŽžƵƶẐẑẒẓẔẕ ʒ=Ǯǯ
        α=ΆάἀἁἂἃἄἅἆἇἈἉἊἋἌἍἎἏὰάᾀᾁᾂᾃᾄᾅᾆᾇᾈᾉᾊᾋᾌᾍᾎᾏᾰᾱᾲᾳᾴᾶᾷᾸᾹᾺΆᾼ β=ϐ ε=ΈέϵἐἑἒἓἔἕἘἙἚἛἜἝὲέῈΈ
        η=ΉήἠἡἢἣἤἥἦἧἨἩἪἫἬἭἮἯὴήᾐᾑᾒᾓᾔᾕᾖᾗᾘᾙᾚᾛᾜᾝᾞᾟῂῃῄῆῇῊΉῌ θ=ϑ ι=ΊΐΪίϊἰἱἲἳἴἵἶἷἸἹἺἻἼἽἾἿὶίιῐῑῒΐῖῗῘῙῚΊ
        κ=ϰ μ=µ ο=ΌόὀὁὂὃὄὅὈὉὊὋὌὍὸόῸΌ π=ϖ ρ=ϱῤῥῬ σ=ςϲϹ υ=ΎΫΰϋύϒϓϔὐὑὒὓὔὕὖὗὙὛὝὟὺύῠῡῢΰῦῧῨῩῪΎ φ=ϕ
        ω=ΏώὠὡὢὣὤὥὦὧὨὩὪὫὬὭὮὯὼώᾠᾡᾢᾣᾤᾥᾦᾧᾨᾩᾪᾫᾬᾭᾮᾯῲῳῴῶῷῺΏῼ а=ӐӑӒӓ г=Ѓѓ е=ЀЁѐёӖӗ ж=ӁӂӜӝ з=Ӟӟ и=ЍЙйѝӢӣӤӥ
        к=Ќќ о=Ӧӧ у=ЎўӮӯӰӱӲӳ ч=Ӵӵ ы=Ӹӹ э=Ӭӭ і=Її ѵ=Ѷѷ ә=Ӛӛ ө=Ӫӫ כ=ך מ=ם נ=ן פ=ף צ=ץ ا=آأإٱ ك=کڪ
        ه=ةھۀہە و=ؤۇ ي=ئىیېے
        """#

    /// The replacement of every listed scalar.
    static let replacements: [Unicode.Scalar: [UInt8]] = {
        var table: [Unicode.Scalar: [UInt8]] = [:]
        for entry in entries.unicodeScalars.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            guard let equals = entry.firstIndex(of: "=") else { continue }
            let replacement = Array(String(String.UnicodeScalarView(entry[..<equals])).utf8)
            for scalar in entry[entry.index(after: equals)...] { table[scalar] = replacement }
        }
        return table
    }()
}
