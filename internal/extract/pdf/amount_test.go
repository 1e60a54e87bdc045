package pdf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAmountsRightBehindTheirLabels reads rows whose amounts, or whose signs, begin where
// the longest label ends.
func TestAmountsRightBehindTheirLabels(t *testing.T) {
	t.Parallel()
	advance := func(s string) float64 { // at 10 points
		n := 0.0
		for _, r := range s {
			width, ok := advances[r]
			if !ok {
				width = 556
			}
			n += width / 100
		}
		return n
	}
	signs := map[string]float64{"$": 0, "": 6}
	labels := []string{"cash and cash securities", "receivables", "inventories", "other", "total assets"}
	values := [][2]string{{"1,200", "1,400"}, {"900", "980"}, {"35", "4,120"}, {"7", "12"}, {"1,342", "5,552"}}
	for sign := range signs {
		var b strings.Builder
		want := "| label | 2024 | 2023 |\n| --- | --- | --- |"
		x := 72 + advance(labels[0]) + signs[sign]/2
		for i, label := range append([]string{"label"}, labels...) {
			y := 700 - 14*float64(i)
			row := [2]string{"2024", "2023"}
			b.WriteString(body10(72, y, label))
			if i > 0 {
				row = values[i-1]
				shown := strings.TrimSpace(sign + " ")
				if shown != "" {
					shown += " "
					b.WriteString(body10(x, y, sign) + body10(x+31, y, sign))
				}
				want += "\n| " + label + " | " + shown + row[0] + " | " + shown + row[1] + " |"
			}
			b.WriteString(body10(x+31-advance(row[0]), y, row[0]) + body10(x+62-advance(row[1]), y, row[1]))
		}
		got := tablesOf(read(t, makePDF(a4, b.String())))
		for i := range got {
			got[i] = strings.ReplaceAll(strings.ReplaceAll(got[i], "$ ", "$"), "$", "$ ") // whether a space stands behind the sign is of no matter
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("with the sign %q: %s", sign, diff)
		}
	}
}

func body10(x, y float64, s string) string { return text("F", 10, x, y, s) }
