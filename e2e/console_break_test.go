package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// pageOfLines returns a page of a PDF with lines of text from the top.
func pageOfLines(height int, lines ...string) string {
	var page strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&page, "BT /F1 11 Tf 60 %d Td (%s) Tj ET\n", height-60-15*i, line)
	}
	return page.String()
}

// TestConsoleBoxesAQuotationOverAPageBreak opens a citation whose sentence begins on one page
// and ends on the next: both are shown, each with its part boxed.
func TestConsoleBoxesAQuotationOverAPageBreak(t *testing.T) {
	t.Parallel()
	const height = 300
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	first := []string{"The harbour of Drumlin Quay has two piers, and both are old.", "Each pier has a lamp that burns from dusk till the morning comes."}
	for len(first) < 13 {
		first = append(first, fmt.Sprintf("Boat %d lies beside the quay and waits there for its crew to come.", len(first)))
	}
	first = append(first, "The keeper of the northern lighthouse writes into the thick log")
	manual := pdfOf(420, height, pageOfLines(height, first...),
		pageOfLines(height, "each ship that passes the outer reef after the sun has gone down.", "No other book of the harbour has these names in it."))
	if d := s.sendPDF(t, "log.pdf", manual, nil); d.Status != "published" {
		t.Fatalf("the manual is %+v", d)
	}
	m.ScriptChat(modeltest.Text("The keeper of the northern lighthouse writes into the thick log each ship that passes the outer reef after the sun has gone down <source_1>."))
	s.signInto(t, page)
	openCited(t, page, "What does the keeper of the northern lighthouse write into the log about ships at the outer reef?")
	const sheets = `[...document.querySelectorAll(".panel .sheet")]`
	awaitPage(t, page, sheets+`.length === 2 && `+sheets+`.every((one, i) => one.querySelector("img")?.naturalWidth > 0 && one.querySelector("img").src.includes("/pages/" + (i + 1) + ".png") && one.querySelectorAll(".box").length === 1)`)
	const boxes = sheets + `.map(one => { const s = one.getBoundingClientRect(), b = one.querySelector(".box").getBoundingClientRect(); return [(b.top - s.top) / s.height, (b.bottom - s.top) / s.height]; })`
	placed := evaluate[[][]float64](t, page, boxes)
	if placed[0][0] < .75 || placed[0][1] > 1 || placed[1][0] < .1 || placed[1][1] > .3 {
		t.Errorf("the parts of the sentence are boxed at %.2f of their pages", placed)
	}
	do(t, page, chromedp.Evaluate(sheets+`[1].querySelector(".box").scrollIntoView({block: "center"})`, nil))
	awaitPage(t, page, `(() => { const b = `+sheets+`[1].querySelector(".box").getBoundingClientRect(), p = document.querySelector(".panel").getBoundingClientRect(); return b.top >= p.top && b.bottom <= p.bottom; })()`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
