package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// raisedText returns the content stream of a line: parts between ^ are raised, parts
// between _ lowered, both smaller, and parts between ~ only smaller.
func raisedText(x, y float64, s string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BT %g %g Td ", x, y)
	state := ' '
	for len(s) > 0 {
		end := strings.IndexAny(s, "^_~")
		if end < 0 {
			end = len(s)
		}
		size, rise := 12.0, 0.0
		switch state {
		case '^':
			size, rise = 7, 5
		case '_':
			size, rise = 8, -2
		case '~':
			size = 7
		}
		if end > 0 {
			fmt.Fprintf(&b, "%g Ts /F %g Tf (%s) Tj ", rise, size, s[:end])
		}
		if end == len(s) {
			break
		}
		if mark := rune(s[end]); state == mark {
			state = ' '
		} else {
			state = mark
		}
		s = s[end+1:]
	}
	b.WriteString("ET\n")
	return b.String()
}

func TestRaisedAndLoweredText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ content, want string }{
		{"The filter holds 10^6^ particles and works at 10^-6^ bar.", "The filter holds 10⁶ particles and works at 10⁻⁶ bar."},
		{"An area of 12 m^2^, and 3 m^3^/h of H_2_O with CO_2_.", "An area of 12 m², and 3 m³/h of H₂O with CO₂."},
		{"The value x_i_^2^ of the series", "The value xᵢ² of the series"},
		{"A sentence with a note^1^ and a name^2^, and the end.^3^", "A sentence with a note¹ and a name², and the end.³"},
		{"1,406^1^ of 2,500^12^ units", "1,406¹ of 2,500¹² units"},
		{"^1^ See the report of the year", "¹ See the report of the year"},
		{"^1^See the report of the year", "¹ See the report of the year"},
		{"The power e^q/2^ of it", "The power e^(q/2) of it"},
		{"It is ~small~ beside 17 ~90~ and 4~5~", "It is small beside 17 90 and 45"},
		{"The 5^th^ of May", "The 5ᵗʰ of May"},
		{"A mole is 6.02x10^23^ mol^-1^ of it", "A mole is 6.02x10²³ mol⁻¹ of it"},
		{"The ion SO_4_^2-^ and Ca^2+^ are there", "The ion SO₄²⁻ and Ca²⁺ are there"},
		{"A flow of 5 cm^-3^ and x_i+1_ of it", "A flow of 5 cm⁻³ and xᵢ₊₁ of it"},
		{"Windows^TM^ and all", "Windows™ and all"},
		{"Beside^a long text that is set higher^ all", "Besidea long text that is set higher all"},
	} {
		layout := read(t, makePDF(a4, raisedText(60, 780, tc.content)))
		if diff := cmp.Diff(tc.want, allText(layout)); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("on a page that is turned", func(t *testing.T) {
		t.Parallel()
		for _, quarters := range []int{90, 270} {
			layout := read(t, makePDF(fmt.Sprintf("%s /Rotate %d", a4, quarters), raisedText(60, 400, "The filter holds 10^6^ particles of CO_2_.")))
			if got := allText(layout); got != "The filter holds 10⁶ particles of CO₂." {
				t.Errorf("turned by %d: %q", quarters, got)
			}
		}
	})
}

// TestMarksDrawnApart draws the mark of a note behind the other lines.
func TestMarksDrawnApart(t *testing.T) {
	t.Parallel()
	mark := "BT /F 7 Tf 1 0 0 1 139 705 Tm (2) Tj ET\n"
	layout := read(t, makePDF(a4, text("F", 12, 72, 700, "273.879.750")+mark))
	if got := allText(layout); got != "273.879.750²" {
		t.Errorf("%q", got)
	}
}
