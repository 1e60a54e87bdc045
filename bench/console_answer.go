package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const (
	answerLength = 20_000               // characters of the answer that is watched
	answerPace   = 2 * time.Millisecond // between its tokens
	frameBudget  = 17                   // milliseconds of a frame, of 60 a second
)

// longAnswer returns a text with headings, a table, code and lists.
func longAnswer() string {
	part := "## A heading\n\nA paragraph of **some** words, with `code`, that goes on until it takes more than a line of the page, and then ends.\n\n" +
		"| part | torque |\n|---|---|\n| valve | 12 Nm |\n| pump | 30 Nm |\n\n```\nfor i := range 10 {\n\tprintln(i)\n}\n```\n\n- one\n- two\n\n"
	return strings.Repeat(part, answerLength/len(part)+1)
}

// watchAnswer has a page add up how far its elements shift, and note how long each frame takes.
const watchAnswer = `window.watched = {shift: 0, shifts: [], frames: []};
new PerformanceObserver(list => {
	for (const one of list.getEntries()) {
		if (one.hadRecentInput) continue;
		watched.shift += one.value;
		watched.shifts.push(...one.sources.map(s => s.node?.className || s.node?.nodeName));
	}
}).observe({type: "layout-shift"});
let last = performance.now();
const step = now => {
	watched.frames.push(now - last);
	last = now;
	requestAnimationFrame(step);
};
requestAnimationFrame(step);`

// answer measures the page to ask on while a long answer streams.
func (b *benchBrowser) answer(s *bulkServer) ([]figure, error) {
	s.model.ScriptChat(modeltest.Reply{Text: longAnswer(), TokenDelay: answerPace})
	var watched struct {
		Shift  float64
		Shifts []string
		Frames []float64
	}
	err := chromedp.Run(b.ctx, chromedp.Navigate(s.Endpoints().API+"/ask"), chromedp.WaitVisible("textarea.question", chromedp.ByQuery),
		chromedp.Evaluate(watchAnswer, nil), chromedp.SendKeys("textarea.question", "How is the pump mounted?"+kb.Enter, chromedp.ByQuery),
		chromedp.Poll(`document.querySelector('[aria-label="Answer"]:not(.live)')`, nil, chromedp.WithPollingTimeout(2*time.Minute), chromedp.WithPollingInterval(500*time.Millisecond)),
		chromedp.Evaluate(`watched`, &watched))
	if err != nil {
		return nil, fmt.Errorf("watch an answer: %w", err)
	}
	if len(watched.Shifts) > 0 {
		fmt.Printf("elements that shifted: %s\n", strings.Join(slices.Compact(slices.Sorted(slices.Values(watched.Shifts))), ", "))
	}
	took := &samples{}
	late := 0
	for _, frame := range watched.Frames {
		took.add(time.Duration(frame * float64(time.Millisecond)))
		if frame > frameBudget {
			late++
		}
	}
	return []figure{
		lower(fmt.Sprintf("answer of %d characters, layout shift", answerLength), watched.Shift),
		lower("frame of it ms, p50", took.quantile(.5)), lower("frame of it ms, p99", took.quantile(.99)), lower("slowest frame of it ms", took.quantile(1)),
		lower(fmt.Sprintf("%% of its frames above %d ms", frameBudget), 100*float64(late)/float64(max(1, len(watched.Frames)))),
	}, nil
}
