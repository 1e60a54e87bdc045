package html_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/html"
)

const footer = `<footer><a href=/imprint>Imprint</a> <a href=/terms>Terms</a> © 2026 Example</footer>`

func TestPagesOfDataLoseNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, page string
		kept            []string
	}{
		{"a date alone in its line, in a page with a footer", `<h1>Pump P7</h1><p>Released 16/03/2026</p><p>The pump lifts water from wells of up to forty metres and needs no care for ten years.</p>` +
			`<table><tr><th>Part<th>Weight<tr><td>Seal<td>3<tr><td>Rod<td>12</table><p>Valid until 31.12.2027</p>` + footer,
			[]string{"Released 16/03/2026", "| Seal | 3 |", "| Rod | 12 |", "Valid until 31.12.2027"}},
		{"short cells beside long ones", `<div class=navigation><a href=/>Home</a></div><table><tr><td>Metal :<td>K4</tr><tr><td>Use:<td><table><tr><td>PIN G 5219 : sheet parts, rods, and what is made of them</table></td></tr></table>` +
			`<center><b>Shares in % of K4</b></center><table><tr><td>C<td>Si<td>Mn<td>P<td>S</tr><tr><td>1.40 - 1.57<td>1.3 - 1.46<td>1.76 - 2.2<td>max 1.136<td>max 1.1</tr></table>` + footer,
			[]string{"| Metal : | K4 |", "| Use: | PIN G 5219 : sheet parts, rods, and what is made of them |", "Shares in % of K4", "| C | Si | Mn | P | S |", "| 1.40 - 1.57 | 1.3 - 1.46 | 1.76 - 2.2 | max 1.136 | max 1.1 |"}},
		{"a receipt", `<nav><a href=/>Shop</a></nav><h1>Receipt</h1><p>Order 4711</p><p>Date: 03/02/2026 14:31</p><table><tr><td>1 × Tea<td>4.20</tr><tr><td>2 × Cake<td>7.00</tr><tr><td>Total<td>11.20</tr></table>` +
			`<p>Paid by card **** 1234</p><p>VAT no. DE 123</p>` + footer,
			[]string{"Order 4711", "Date: 03/02/2026 14:31", "| 1 × Tea | 4.20 |", "| Total | 11.20 |", "Paid by card **** 1234", "VAT no. DE 123"}},
		{"a specification in divisions", `<header class=menu><a href=/>Home</a><a href=/pumps>Pumps</a></header><main><h1>P7</h1><div><div>Flow</div><div>12 m³/h</div></div><div><div>Head</div><div>40 m</div></div>` +
			`<div><div>Year</div><div>2026</div></div></main>` + footer,
			[]string{"Flow", "12 m³/h", "Head", "40 m", "Year", "2026"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			page, err := html.ReadPage([]byte("<html><body>"+tc.page+"</body></html>"), "")
			if err != nil {
				t.Fatal(err)
			}
			var main strings.Builder
			for _, b := range page.Blocks {
				if !b.Kind.IsFurniture() {
					main.WriteString(b.Text + "\n")
				}
			}
			for _, text := range tc.kept {
				if !strings.Contains(main.String(), text) {
					t.Errorf("%q is not in\n%s", text, main.String())
				}
			}
			if strings.Contains(main.String(), "Imprint") {
				t.Errorf("the footer is in\n%s", main.String())
			}
		})
	}
}
