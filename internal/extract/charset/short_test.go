package charset_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// shortTexts are texts of a few words by the character sets in which programs write them.
var shortTexts = map[string][]string{
	"shift_jis": {
		"品名,価格\nカキクケコ,12\n", "名前,年齢,住所\n田中一郎,31,京都\n森本花子,26,大阪\n", "東京", "お知らせ", "商品番号;数量;単価\nA-1;3;1200\n", "ポンプの圧力は 3 bar です。", "注文日\t担当者\n2024/1/5\t鈴木\n", "ｱｲｳｴｵ,12\n", "検査結果\n合格\n", "りんご,120\nみかん,80\n",
	},
	"euc-jp":  {"品名,価格\nカキクケコ,12\n", "名前,年齢,住所\n田中一郎,31,京都\n", "お知らせ", "ポンプの圧力は 3 bar です。", "商品番号;数量;単価\nA-1;3;1200\n"},
	"big5":    {"姓名,年齡,地址\n王小明,31,台北市\n", "產品名稱,單價\n水,12\n", "電話號碼", "這個機器的說明。"},
	"euc-kr":  {"이름,나이,주소\n김민수,31,서울\n", "제품명,가격\n펌프,1200\n", "안녕하세요", "이 기계의 설명입니다."},
	"gb18030": {"姓名,年龄,地址\n王小明,31,北京市\n", "产品名称,单价\n水,12\n", "这个机器的说明。"},
	"windows-1251": {
		"Наименование;Цена\nНасос;1200\n", "Имя,Возраст,Город\nИван,31,Москва\n", "Привет", "Назва;Ціна\nКлапан;15\n", "Давление насоса 3 бар.", "ОТЧЕТ ПО ПРОДАЖАМ", "Київ,Львів\n", "Номер на поръчка;Цена\n1;25\n",
	},
	"koi8-r":       {"Наименование;Цена\nНасос;1200\n", "Имя,Возраст,Город\nИван,31,Москва\n", "Привет", "Давление насоса 3 бар."},
	"windows-1250": {"Název;Množství\nČerpadlo;3\n", "Jméno,Město\nJiří,Plzeň\n", "Nazwa;Ilość\nZawór;3\nŚruba;5\n", "Część zamienna łożysko", "Megnevezés;Mennyiség\nTömítő gyűrű;3\n", "Količina;Šifra\n", "Łódź", "Alma;Körte\n1;szőlő\n", "Příliš žluťoučký kůň"},
	"windows-1253": {"Όνομα;Τιμή\nΒίδα;12\nΛάμπα;30\n", "Καλημέρα", "Η πίεση της αντλίας είναι 3 bar.", "Αριθμός παραγγελίας;Ημερομηνία\n"},
	"windows-1255": {"שם;מחיר\nבורג;12\nמנורה;30\n", "שלום עולם", "מספר הזמנה;תאריך;לקוח\n7;1.2.2024;כהן\n"},
	"windows-1254": {"Pompa basıncı düşük. Şişe ağır, iğne ince.", "ürün;fiyat\nşişe;12\nvida ağır;3\n", "Müşteri adı;Şehir\nAyşe;İzmir\n", "İstanbul'da yağmur yağıyor", "Sipariş numarası;Açıklama\n"},
	"windows-1256": {"تعمل المضخة عند ضغط 42 بار.", "الاسم;السعر\nمضخة;12\nصمام;3\n", "رقم الطلب;التاريخ\n", "مرحبا بكم في المدينة", "درجة الحرارة القصوى"},
	"windows-874":  {"ปั๊มทำงานที่ความดัน 42 บาร์", "สินค้า,ราคา\nน็อต,12\n", "ชื่อ;ที่อยู่\nสมชาย;กรุงเทพ\n", "สวัสดี", "หมายเลขคำสั่งซื้อ"},
	"ibm850":       {"Größe;Preis\nSchlüssel;12\nTür;30\n", "Straße;Stück\nÖl;3\n", "Prénom;Âge\nHélène;31\n"},
	"iso-8859-2":   {"Název;Šířka\nČerpadlo;3\n", "Nazwa;Ilość\nZawór;3\nŚruba;5\n", "Część zamienna łożysko", "Megnevezés;Mennyiség\nTömítő gyűrű;3\n"},
	"windows-1252": {"Größe;Stück\nÖlfilter;3\n", "Prénom;Âge\nÉlodie;31\n", "Descripción;Tamaño\n", "Preis in €\n10 °C – 20 °C\n", "Málaga, año", "Ærø Ångström", "“quoted” text…", "Straße", "50 µm ± 2 µm", "£ 12", "São Paulo", "naïve café", "Já está à venda a edição", "það er ekki ný bók", "dýr þvottavél", "Þórður á að koma", "pt: doação\nes: español, prácticas\nde: für Größe\nfr: contrôlé\n"},
}

func TestShortTexts(t *testing.T) {
	t.Parallel()
	right, all := 0, 0
	for set, list := range shortTexts {
		enc, err := htmlindex.Get(set)
		if set == "ibm850" {
			enc, err = charmap.CodePage850, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range list {
			data, err := enc.NewEncoder().String(text)
			if err != nil {
				t.Fatalf("%s cannot write %q: %v", set, text, err)
			}
			all++
			got, err := charset.Decode([]byte(data), "")
			if got == text {
				right++
				if charset.Assumed([]byte(data), "") == "" {
					t.Errorf("nothing says that %q was assumed to be %s", text, set)
				}
				continue
			}
			t.Errorf("%q in %s is read as %q (%s), %v", text, set, got, charset.Assumed([]byte(data), ""), err)
		}
	}
	t.Logf("%d of %d short texts are read right", right, all)
}

func TestNoTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"\x81\x8d\x8f\x90\x9d", "caf\xe9\xff\xfe\xfd\xfc", "a\xc3\xa9b \xc3 c\xe2\x82", "\xff\xd8\xff\xe0abc\x9d"} {
		if got, err := charset.Decode([]byte(data), ""); !knowledge.IsCode(err, knowledge.CodeMalformed) {
			t.Errorf("%q is read as %q (%s)", data, got, charset.Assumed([]byte(data), ""))
		}
	}
}

// TestUTF7 reads text that a gateway wrote in seven bits, and leaves other text with plus signs alone.
func TestUTF7(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"Die Pumpe l+AOQ-uft bei 42 bar, Gr+APYA3w-e f+APw-nf.": "Die Pumpe läuft bei 42 bar, Größe fünf.",
		"1 +- 1, +IKw- 12":              "1 + 1, € 12",
		"+BB0EMARBBD4EQQ":               "Насос",
		"caf+AOk- +IBM- r+AOk-sum+AOk-": "café – résumé",
	} {
		if got, err := charset.Decode([]byte(data), ""); err != nil || got != want || charset.Assumed([]byte(data), "") != "utf-7" {
			t.Errorf("%q is read as %q (%s), %v", data, got, charset.Assumed([]byte(data), ""), err)
		}
	}
	for _, same := range []string{
		"Call +49-431-123456 or +4943112-0.", "a + b", "C++-Code and C++AB-", "x+y-z", "+AOQ- + 1", "q=a+b&c=d+ef-", "ä +AOQ-", "1+1=2", "+1-800-555", "+", "john+test-1@example.com", "a+abcd-", "key+AAAA-",
		"Bahn+Bus", "Kauf+Tag", "Zug+Bis-", "Office+OneDrive-Kurs", "Office+WhatsApp", "Call +12025550104 or +18005551230.", "UN+BGA", "HP+IBM", "Preis+das",
	} {
		if got, err := charset.Decode([]byte(same), ""); err != nil || got != same {
			t.Errorf("%q is read as %q, %v", same, got, err)
		}
	}
}
