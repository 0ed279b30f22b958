"""The texts: twenty scripts, and what tokenizers stumble over."""

CORPUS = """The cat sat on the mat and the dog lay by the door. Tell me a story about the sea, please.
Once upon a time there was a small island in the northern sea; on it stood a Lighthouse with a green door.
Marie Curie was born in Warsaw and worked in Paris. Angela Merkel spoke in Berlin about the European Union.
Der Hund lief über die Brücke; die Straße war naß. Le garçon a mangé une pomme à l'école. ¿Dónde está la estación?
İstanbul'da ılık bir gün. Žluťoučký kůň pěl ďábelské ódy. Tiếng Việt có nhiều dấu: ấ ề ộ ữ ỵ. Ærø, Łódź, Þór.
В лесу родилась ёлочка, в лесу она росла. Їжак і ґанок. Ћирилица је писмо.
Η ΘΑΛΑΣΣΑ ΕΙΝΑΙ ΜΠΛΕ. Ο σκύλος τρέχει στον δρόμο· ἐν ἀρχῇ ἦν ὁ λόγος.
כל בני האדם נולדו בני חורין. שָׁלוֹם עֲלֵיכֶם
يولد جميع الناس أحرارا متساوين. السَّلامُ عَلَيْكُم ٱلْعَرَبِيَّة ﷺ ﻻ
हिन्दी में लिखा हुआ वाक्य। क्षत्रिय ज्ञान क़लम
বাংলা ভাষায় একটি বাক্য। தமிழ் மொழி இனிது. తెలుగు భాష కన్నడ ಕನ್ನಡ ಭಾಷೆ മലയാളം ഭാഷ
ภาษาไทยไม่มีช่องว่าง ພາສາລາວ မြန်မာစာ ភាសាខ្មែរ
东京是日本的首都吗？你好，世界。東京は日本の首都です。カタカナ ﾊﾝｶｸ ガギグ ㌀㍿
대한민국의 수도는 서울입니다. 한국어
საქართველო ლამაზია. Հայաստանը գեղեցիկ է։ አማርኛ ቋንቋ ነው። བོད་ཡིག སිංහල ᠮᠣᠩᠭᠣᠯ ᏣᎳᎩ ⵜⴰⵎⴰⵣⵉⵖⵜ
one two three four five six seven eight nine ten 1 2 3 45 678 100 2026 3.14 1,000""".split("\n")

ODD = [
    "👩‍👩‍👧‍👦", "👍🏽", "🇫🇷🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️", "1️⃣", "🧑🏿‍🚀", "😀😀", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "𝟙𝟚", "𠀀𠮷", "𐍈",
    "e\u0301", "a\u0323\u0302", "a\u0302\u0323", "o\u0308\u0304", "q\u0307\u0323", "q\u0323\u0307", "Z\u0351\u036b\u0343a\u0330l\u0348", "\u0301", "\u0344\u0323", "é\u0323", "ệ", "ǖ", "ﬁ", "ﬀi", "½", "⑴", "①", "㎏", "Ⅻ", "ｆｕｌｌ　ｗｉｄｔｈ", "～", "ﾞ", "か\u3099", "ｶﾞ", "\u1100\u1161\u11a8", "각", "İ", "I\u0307", "ß", "ẞ", "ŉ", "ΑΣ", "ς", "Å", "Ω", "K", "ﹰ", "\ufdfa", "\u0958", "क\u093c", "\u2126", "豈", "\u2f800"[:1],
    "\u0000", "\u0001", "\u0007", "\u001b[0m", "\u007f", "\u0085", "\u009f", "\u00ad", "\u200b", "\u200d", "\u200e", "\u202e", "\u2060", "\ufeff", "\ufffd", "\ue000", "\ufffe",
    " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\u1680", "\u000b", "\u000c",
    "▁", "▁▁", "Ġ", "##s", "<0x41>", "[UNK]", "[MASK]", " [SEP] ", "<mask>", " <mask> ", "  <mask>", "<s>", "</s>", "<unk>", "<pad>", " <left> ", "  <right>  ", " <both> ", "<both>", "naïve", "école", "ÉCOLE", "lighthouse", "Lighthouses", "sea", "seas", "oversea", "sea.",
    "don't", "I'll", "''", "``", "“quotes”", "—", "…", "_", "a_b", "x-y", "http://example.org/a?b=c&d=1", "me@example.com", "C++", "#1", "$5", "€", "£3.50", "°C", "^", "~", "|", "100%", "١٢٣", "१२३", "²", "٫", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "0123456789",
]
COUNT = 2000


def texts(rng):
    words = [word for line in CORPUS for word in line.split(" ")]
    found = [*CORPUS, *ODD, "", " ", "\n"]
    while len(found) < COUNT - 6:
        pool = rng.choice([words, words + ODD * 2, ODD])
        parts = [rng.choice(pool) for _ in range(rng.randint(1, 12))]
        found.append("".join(part + rng.choice([" ", " ", " ", "", "  ", "\n"]) for part in parts)[: rng.choice([None, -1])])
    # Long enough to be tokenized in pieces.
    while len(found) < COUNT:
        found.append(" ".join(rng.choice(words + ODD) for _ in range(700)))
    return found
