package odf_test

import "testing"

func TestRaisedText(t *testing.T) {
	t.Parallel()
	style := func(name, position string) string {
		return `<style:style style:name="` + name + `" style:family="text"><style:text-properties style:text-position="` + position + `"/></style:style>`
	}
	span := func(name, text string) string {
		return `<text:span text:style-name="` + name + `">` + text + `</text:span>`
	}
	styles := style("Up", "super 58%") + style("Down", "-33% 58%") + style("Line", "0% 100%") + `<style:style style:name="Child" style:family="text" style:parent-style-name="Up"/>`
	for want, body := range map[string]string{
		"10⁻⁶ bar":   "10" + span("Up", "-6") + " bar",
		"H₂O":        "H" + span("Down", "2") + "O",
		"3 m² large": "3 m" + span("Child", "2") + span("Line", " large"),
		"note¹ next": "note" + span("Up", `<text:a>1</text:a>`) + " next",
	} {
		result := read(t, document(styles, "<office:text>"+p(body)+"</office:text>", ""))
		if got := result.Layout.Blocks[0].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
