package legible_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/legible"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The pump was tested on two days.":                       true,
		"Die Prüfung aller Pumpen zeigt, dass der Druck sinkt.":  true,
		"L'inspection de toutes les pompes montre une pression.": true,
		"Faktura nr FV 7/2024, kwota 27,83 PLN":                  true,
		"Счёт на оплату № 17":                                    true,
		"发票号码：12345，开票日期":                                        true,
		"1,406.50 03/05/2024":                                    true,
		"WASSERWERK NORD GMBH RECHNUNG 12":                       true,
		"":                                                       false,
		"• • •":                                                  false,
		"7KH TXLFN LQVSHFWLRQ RI DOO SXPSV":                      false,
		"7RWDO":                                                  false,
		"!\"#$% &'()* +,-./":                                     false,
		"xqzv wkjq zzxw qqvk jxzq wvkz":                          false,
		"ϲΒϴΒ":                                                   false,
		"\u3412\u3567\u0465\u0a12\u0b45":                         false,
		"ABABABABABABABABABABABABABABABABABABABABABABABABABABABABA": false,
	} {
		if got := legible.Words(strings.Fields(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
