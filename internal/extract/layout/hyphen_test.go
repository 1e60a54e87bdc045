package layout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// TestHyphensAtLineEnds joins two lines, of a document that may have others.
func TestHyphensAtLineEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ first, second, other, want string }{
		{"the seal kit of the type SK-", "9 is placed in time.", "", "the seal kit of the type SK-9 is placed in time."},
		{"of the type SK-", "9. The next", "", "of the type SK-9. The next"},
		{"the part KX-1002-", "b is here", "", "the part KX-1002-b is here"},
		{"the part ABC-", "DEF is sent", "", "the part ABC-DEF is sent"},
		{"covers the years 2019-", "2021 and more", "", "covers the years 2019-2021 and more"},
		{"covers the years 2019–", "2021 and more", "", "covers the years 2019–2021 and more"},
		{"the value is 12-", "15 bar", "", "the value is 12-15 bar"},
		{"call 0431-", "123456 or", "", "call 0431-123456 or"},
		{"call +49 (0)431/", "123456 or", "", "call +49 (0)431/123456 or"},
		{"call (0431)-", "123456 or", "", "call (0431)-123456 or"},
		{"the support by E-", "Mail and", "", "the support by E-Mail and"},
		{"seen on an X-", "ray picture", "", "seen on an X-ray picture"},
		{"the 24-", "hour line", "", "the 24-hour line"},
		{"the ser-", "vice team", "", "the service team"},
		{"the ser\u2010", "vice team", "", "the service team"},
		{"a well-", "known supplier", "", "a well-known supplier"},
		{"a state-of-", "the-art pump", "", "a state-of-the-art pump"},
		{"a high-", "pressure pump", "", "a high-pressure pump"},
		{"on the high-", "way to", "", "on the highway to"},
		{"the water-", "cooled engine", "It is water-cooled.", "the water-cooled engine"},
		{"the high-", "pressure pump", "The highpressure pump", "the highpressure pump"},
		{"the air-", "cooled engine", "The cooled part is air-tight.", "the air-cooled engine"},
		{"the tax-", "free part", "", "the tax-free part"},
		{"a care-", "free life", "", "a carefree life"},
		{"at the year-", "end of 2024", "", "at the year-end of 2024"},
		{"at the week-", "end of May", "", "at the weekend of May"},
		{"the long-", "term debt", "", "the long-term debt"},
		{"the non-", "GAAP figures", "", "the non-GAAP figures"},
		{"the non-", "current assets", "", "the non-current assets"},
		{"it is non-", "sense to", "", "it is nonsense to"},
		{"the non-", "current assets", "Noncurrent assets", "the noncurrent assets"},
		{"from third-", "party funds", "", "from third-party funds"},
		{"the e-", "commerce trade", "", "the e-commerce trade"},
		{"the interest-", "bearing loans", "", "the interest-bearing loans"},
		{"the world-", "wide trade", "", "the worldwide trade"},
		{"the weight-", "lifting gear", "", "the weightlifting gear"},
		{"the weight-", "lifting gear", "The weight of the lifting gear.", "the weight-lifting gear"},
		{"the weight-", "lifting gear", "A ser-\nvice or the service. The weight of the lifting gear.", "the weightlifting gear"},
		{"die Kranken-", "versicherung zahlt", "Die Kranken zahlen die Versicherung.", "die Krankenversicherung zahlt"},
		{"sowohl Ein-", "als auch Ausgang", "", "sowohl Ein- als auch Ausgang"},
		{"die Ein- und Aus-", "gaben sind", "", "die Ein- und Ausgaben sind"},
		{"die Kranken-", "versicherung zahlt", "", "die Krankenversicherung zahlt"},
		{"der Ein-", "und Ausgang", "", "der Ein- und Ausgang"},
		{"of 24-", "and 48-hour tests", "", "of 24- and 48-hour tests"},
		{"FURTHER INFORMA-", "TION FOR OWNERS", "", "FURTHER INFORMATION FOR OWNERS"},
		{"the page https://www.example.com/manuals/", "pump-p17.html for the manual", "", "the page https://www.example.com/manuals/pump-p17.html for the manual"},
		{"the page https://www.example.com/pump-", "p17.html for", "", "the page https://www.example.com/pump-p17.html for"},
		{"the page https://www.example.com/air-", "pump.html for", "", "the page https://www.example.com/air-pump.html for"},
		{"the page https://www.example.com", "/manuals/pump.html for", "", "the page https://www.example.com/manuals/pump.html for"},
		{"the page www.example.com/a?x=", "1&y=2 shows", "", "the page www.example.com/a?x=1&y=2 shows"},
		{"the page https://www.example.com/manuals/", "for the manual", "", "the page https://www.example.com/manuals/ for the manual"},
		{"the email first.last@ex-", "ample.com is", "", "the email first.last@example.com is"},
		{"the email first.last@", "example.com is", "", "the email first.last@example.com is"},
		{"valves and/", "or pumps", "", "valves and/or pumps"},
		{"a dash -", "as it is", "", "a dash - as it is"},
	} {
		d := layout.Document{Pages: pages(1), Lines: []layout.Line{at(50, 50, tc.first), at(50, 62, tc.second)}}
		for i, other := range strings.Split(tc.other, "\n") {
			if other != "" {
				d.Lines = append(d.Lines, at(50, 300+12*float64(i), other))
			}
		}
		if diff := cmp.Diff("paragraph: "+tc.want, outlineOf(d.Blocks())[0]); diff != "" {
			t.Error(diff)
		}
	}
}
