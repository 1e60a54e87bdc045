package evaluate_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/google/go-cmp/cmp"
)

func TestQuantities(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"It costs 1,234.5 EUR.":                   {"1,234.5 EUR: [1234.5][] euro"},
		"Es kostet 1.234,5 Euro.":                 {"1.234,5 Euro: [1234.5][] euro"},
		"1,234 or 1.234":                          {"1,234: [1234 1.234][] ?or", "1.234: [1234 1.234][] ?"},
		"12 500 kroner, 12'500 Franken":           {"12 500: [12500][] ?kroner", "12'500: [12500][] ?franken"},
		"two weeks, 14 days":                      {"two weeks: [1.2096e+06][] second", "14 days: [1.2096e+06][] second"},
		"nach zwölf Monaten, nach einem Jahr":     {"zwölf Monaten: [12][] month", "einem Jahr: [12][] month"},
		"one of them for one hour":                {"one hour: [3600][] second"},
		"HX-4, E02, HX4-2300, version 1.2.3":      nil,
		"between -10 and 40 °C, minus 5 to 7":     {"10: [-10][] ?and", "40: [40][] ?", "5: [-5][] ?to", "7: [7][] ?"},
		"3-5 days":                                {"3: [3][] ?", "5 days: [432000][] second"},
		"on 2024-10-02, on 2. Oktober 2024":       {"2024-10-02: [][2024-10-02] ?", "2. Oktober 2024: [][2024-10-02] ?"},
		"October 2, 2024; 02.10.2024; 10/02/2024": {"October 2, 2024: [][2024-10-02] ?", "02.10.2024: [][2024-10-02] ?", "10/02/2024: [][2024-10-02 2024-02-10] ?"},
		"in March 2026 and on 5 May":              {"March 2026: [][2026-03] ?", "5 May: [][05-05] ?"},
		"you may 2 times, 10 may":                 {"2: [2][] ?times", "10: [10][] ?may"},
		"2.5 million euros":                       {"2.5 million euros: [2.5e+06][] euro"},
		"€5, 5 %, 0.05 m/s, 50 mm":                {"5: [5][] euro", "5 %: [5][] percent", "0.05: [0.05][] ?m/s", "50 mm: [0.05][] metre"},
		"共有27天":                                   {"27: [27][] ?天"},
		"":                                        nil,
	} {
		if diff := cmp.Diff(want, evaluate.Quantities(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestSameQuantity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1,234.5", "1.234,5", true}, {"1.234", "1,234", true}, {"1,234", "1234", true}, {"1,234", "1.235", false},
		{"24 months", "two years", true}, {"24 months", "24 days", false}, {"36 months", "24 months", false},
		{"2024-10-02", "October 2024", true}, {"2024-10-02", "2 October", true}, {"2024-10-02", "2 November", false},
		{"2024-10-02", "2024", true}, {"2024-10-02", "2023", false}, {"40 centimetres", "0.4 m", true},
		{"4 mm/s", "4 millimetres per second", true}, {"5 %", "5 percent", true}, {"-10", "10", false},
	} {
		if got := evaluate.SameQuantity(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: same is %v", c.a, c.b, got)
		}
		if got := evaluate.SameQuantity(c.b, c.a); got != c.same {
			t.Errorf("%q and %q: same is %v", c.b, c.a, got)
		}
	}
}

func TestOpposes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b    string
		opposes bool
	}{
		{"Records with an unset clock can be repaired.", "Records with an unset clock cannot be repaired afterwards.", true},
		{"Records with an unset clock cannot be repaired.", "Records with an unset clock cannot be repaired afterwards.", false},
		{"Nasse Akkus dürfen im geschlossenen Auto transportiert werden.", "Nasse Akkus dürfen niemals im geschlossenen Auto transportiert werden.", true},
		{"The tarn needs a boat for mounting.", "The tarn needs no boat for mounting.", true},
		{"The pump measures the pressure.", "The pump measures the pressure, but not the temperature.", false},
		{"Les vitres sont nettoyées avec un solvant.", "Les vitres ne sont jamais nettoyées avec un solvant.", true},
		{"See No. 5 for the price list.", "See number 5 for the price list.", false},
	} {
		if got := evaluate.Opposes(c.a, c.b); got != c.opposes {
			t.Errorf("%q and %q: opposes is %v", c.a, c.b, got)
		}
	}
}
