package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// type3 returns a PDF whose only font draws each character as a square, and says which
// character it is by an encoding alone.
func type3(encoding string, lines ...string) []byte {
	objects := onePage("", "", body(72, 700, lines...))
	objects[4] = "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 100 100] /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 32 /LastChar 126 " +
		"/Widths [" + strings.Repeat("60 ", 95) + "] /CharProcs << /A 6 0 R /space 7 0 R >> /Resources << >> /Encoding " + encoding + " >>"
	return build("", append(objects, stream("60 0 d0 5 0 50 70 re f"), stream("60 0 d0"))...)
}

// byCode returns a PDF whose only font has two bytes for each character, which are the
// number of its drawing, and the given table of their characters.
func byCode(table string, code func(uint16) uint16, lines ...string) []byte {
	var content strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&content, "BT /F 11 Tf 72 %d Td <", 700-13*i)
		for _, unit := range utf16.Encode([]rune(line)) {
			fmt.Fprintf(&content, "%04x", code(unit))
		}
		content.WriteString("> Tj ET\n")
	}
	return withTable(table, content.String())
}

// withTable returns a PDF with a page whose only font, F, has two bytes for each
// character, and the given table of characters, if any.
func withTable(table, content string) []byte {
	objects := onePage("", "", content)
	more := ""
	if table != "" {
		more = "/ToUnicode 8 0 R"
	}
	objects[4] = "<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Own /Encoding /Identity-H /DescendantFonts [6 0 R] " + more + " >>"
	return build("", append(objects,
		"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Own /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 7 0 R /DW 600 >>",
		"<< /Type /FontDescriptor /FontName /ABCDEF+Own /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
		stream(table))...)
}

// identityTable is a table of characters written as if it were one of the numbers of a
// font.
const identityTable = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <0000> <FFFF> endcodespacerange
1 begincidrange <0000> <FFFF> 0 endcidrange
endcmap end end`

func same(unit uint16) uint16 { return unit }

// glyphs29 returns the number that a character has in most TrueType fonts.
func glyphs29(unit uint16) uint16 { return unit - 29 }

func TestCodesThatAreCharacters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		data      func(lines ...string) []byte
		lines     []string
	}{
		{"a Type 3 font with a standard encoding", func(l ...string) []byte { return type3("/WinAnsiEncoding", l...) },
			[]string{"Invoice 4711 of 03/05/2024", "Customer: Northern Drinks", "Total 1,406.50 EUR"}},
		{"another encoding", func(l ...string) []byte { return type3("/MacRomanEncoding", l...) }, []string{"Order 12 of pumps", "Total 9.50 EUR"}},
		{"numbers alone", func(l ...string) []byte { return type3("/WinAnsiEncoding", l...) }, []string{"1,406.50", "03/05/2024"}},
		{"an invoice in Polish", func(l ...string) []byte { return byCode(identityTable, same, l...) },
			[]string{"Faktura nr FV 7/2024", "Data wystawienia: 2024-03-05", "Nabywca: Polska Woda", "Razem 148,83 PLN", "Stawka 23% kwota 27,83"}},
		{"Cyrillic", func(l ...string) []byte { return byCode(identityTable, same, l...) }, []string{"Счёт на оплату № 17", "Поставщик: Северная вода"}},
		{"Greek", func(l ...string) []byte { return byCode(identityTable, same, l...) }, []string{"Τιμολόγιο αριθμός 7", "Σύνολο 12,50"}},
		{"Chinese", func(l ...string) []byte { return byCode(identityTable, same, l...) }, []string{"发票号码：12345，开票日期：2024年3月5日。", "北方饮料有限公司"}},
		{"German in capitals", func(l ...string) []byte { return byCode(identityTable, same, l...) }, []string{"RECHNUNG NR. 12", "WASSERWERK NORD GMBH", "SUMME 12,50 EUR"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			layout := read(t, tc.data(tc.lines...))
			if diff := cmp.Diff(words(strings.Join(tc.lines, " ")), words(allText(layout))); diff != "" {
				t.Error(diff)
			}
			if len(layout.Warnings) > 0 {
				t.Errorf("warnings %v", layout.Warnings)
			}
		})
	}
}

func words(s string) string { return strings.Join(strings.Fields(s), "") }

func allText(layout knowledge.Layout) string {
	var all []string
	for _, b := range layout.Blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, " ")
}

func TestCodesWithoutMeaning(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		code      func(uint16) uint16
		lines     []string
	}{
		{"numbers of drawings", glyphs29, []string{"The quick inspection of all pumps", "shows that the pressure is low"}},
		{"numbers of drawings, in one word", glyphs29, []string{"Total"}},
		{"numbers from one on", func(u uint16) uint16 { return u%29 + 1 }, []string{"The quick inspection of all pumps", "shows that the pressure is low"}},
		{"high numbers", func(u uint16) uint16 { return 0x150 + u*5 }, []string{"The quick inspection of all pumps", "shows that the pressure is low"}},
		{"numbers of Chinese drawings", func(u uint16) uint16 { return (u*31)%9000 + 800 }, []string{"发票号码开票日期年月日北方饮料有限公司水压检查"}},
		{"capitals for small letters", func(u uint16) uint16 { return (u*5)%26 + 'A' }, []string{"The quick inspection of all pumps", "shows that the pressure is low"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result, err := newReader(t).Read(t.Context(), source(t, byCode("", tc.code, tc.lines...)))
			if got := allText(result.Layout); got != "" {
				t.Errorf("published %q", got)
			}
			if err == nil {
				t.Errorf("no error; warnings %v", result.Layout.Warnings)
			}
		})
	}
	t.Run("a page with other text says so", func(t *testing.T) {
		t.Parallel()
		data := byCode("", glyphs29, "The quick inspection", "of all pumps")
		data = []byte(strings.Replace(string(data), "/Font << /F 5 0 R >>", "/Font << /F 5 0 R /G << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>", 1))
		data = []byte(strings.Replace(string(data), "BT /F 11 Tf 72 700 Td", "BT /G 11 Tf 72 760 Td (Known text.) Tj ET BT /F 11 Tf 72 700 Td", 1))
		layout := read(t, data)
		if got := allText(layout); got != "Known text." {
			t.Errorf("published %q", got)
		}
		if len(layout.Warnings) != 1 || layout.Warnings[0].Code != knowledge.WarnUnknownCharacters || layout.Warnings[0].Pages[0] != 1 {
			t.Errorf("warnings %v", layout.Warnings)
		}
	})
}

func TestClusters(t *testing.T) {
	t.Parallel()
	// The text of a cluster stands at one of its drawings, and the others have an empty text.
	const table = `begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange
6 beginbfchar <0003> <> <03f2> <> <0392> <> <03f4> <> <02f4> <> <03a3> <062d064e0628064a0628064a0020> endbfchar
5 beginbfchar <0025> <0050> <0026> <> <0027> <0075> <03e8> <0066006c> <03e9> <> endbfchar endcmap end end`
	const content = "BT /F 11 Tf 72 700 Td <000303f20392039203f402f403a3> Tj ET BT /F 11 Tf 72 660 Td <002500260027> Tj ET BT /F 11 Tf 72 620 Td <03e803e90027> Tj ET"
	const others = " BT /F 11 Tf 72 580 Td <1234123512361237> Tj ET"
	plain := withTable(table, content)
	for _, tc := range []struct {
		behaviour string
		data      []byte
		warnings  int
	}{
		{"drawings with an empty text have none", plain, 0},
		{"a compressed table is read too", bytes.Replace(plain, []byte(stream(table)), []byte(compressed(table)), 1), 0},
		{"drawings that the table leaves out are warned of", withTable(table, content+others), 1},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			layout := read(t, tc.data)
			if got := allText(layout); got != "حَبيبي Pu flu" {
				t.Errorf("read %q", got)
			}
			if len(layout.Warnings) != tc.warnings {
				t.Errorf("warnings %v", layout.Warnings)
			}
		})
	}
}

// compressed returns a stream that is compressed.
func compressed(content string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(content)) // a buffer returns no error
	_ = w.Close()
	return fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", b.Len(), b.String())
}
