package pdf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// arabic returns a PDF that draws letters of a script written from right to left, each
// drawing given with its characters, from left to right on the page or in reading order.
func arabic(inReadingOrder bool, words ...[]string) []byte {
	var table, content strings.Builder
	count := 0
	right := 500.0
	for _, drawings := range words {
		codes := make([]int, len(drawings))
		for i, chars := range drawings {
			count++
			codes[i] = count
			fmt.Fprintf(&table, "<%04x> <", count)
			for _, unit := range utf16.Encode([]rune(chars)) {
				fmt.Fprintf(&table, "%04x", unit)
			}
			table.WriteString(">\n")
		}
		left := right - 6*float64(len(drawings))
		if inReadingOrder {
			fmt.Fprintf(&content, "BT /F 10 Tf %g 700 Td [", right-6)
			for _, code := range codes {
				fmt.Fprintf(&content, "<%04x> 1200 ", code) // back over the letter and one more
			}
			content.WriteString("] TJ ET\n")
		} else {
			slices.Reverse(codes)
			fmt.Fprintf(&content, "BT /F 10 Tf %g 700 Td <", left)
			for _, code := range codes {
				fmt.Fprintf(&content, "%04x", code)
			}
			content.WriteString("> Tj ET\n")
		}
		right = left - 4
	}
	cmap := "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n" +
		fmt.Sprintf("%d beginbfchar\n%sendbfchar endcmap end end", count, table.String())
	return withTable(cmap, content.String())
}

func TestArabic(t *testing.T) {
	t.Parallel()
	split := func(s string) []string { return strings.Split(s, " ") }
	for _, tc := range []struct {
		behaviour string
		words     [][]string
		want      string
	}{
		{"lam-alef as one drawing of two letters", [][]string{split("ا ل م ش ك لا ت")}, "المشكلات"},
		{"two words", [][]string{split("ا ل م ش ك لا ت"), split("ا ل ح لا ل")}, "المشكلات الحلال"},
		{"lam-alef with a hamza", [][]string{split("ا لأ م ن"), split("ا لإ س لا م"), split("ا لآ ن")}, "الأمن الإسلام الآن"},
		{"lam-alef at the end", [][]string{split("و لا"), split("ش ي ء")}, "ولا شيء"},
		{"presentation forms", [][]string{split("ﺍ ﻟ ﻤ ﺸ ﻜ ﻼ ﺕ")}, "المشكلات"},
		{"a presentation form among letters", [][]string{split("ا ل م ش ك ﻼ ت")}, "المشكلات"},
		{"Persian", [][]string{split("ا ط لا ع ا ت"), split("پ ژ و ه ش ی")}, "اطلاعات پژوهشی"},
		{"letters drawn apart", [][]string{split("ا ل م ش ك ل ا ت")}, "المشكلات"},
		{"an article is not a ligature", [][]string{split("ا ل ك ت ا ب")}, "الكتاب"},
		{"Allah as one drawing", [][]string{split("ع ب د"), split("و الله")}, "عبد والله"},
		{"other ligatures", [][]string{split("ا لم ك ت ب"), split("ك تاب")}, "المكتب كتاب"},
		{"Hebrew", [][]string{split("ש ל ו ם"), split("ע ו ל ם")}, "שלום עולם"},
	} {
		for _, reading := range []bool{false, true} {
			result, err := newReader(t).Read(t.Context(), source(t, arabic(reading, tc.words...)))
			if got := allText(result.Layout); got != tc.want {
				t.Errorf("%s, in reading order %v: %q, want %q: %v", tc.behaviour, reading, got, tc.want, err)
			}
		}
	}
}
