package layout_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// row returns one line of several texts, each at its place, with its words. A character is
// 5 points wide.
func row(y float64, cells map[float64]string) layout.Line {
	l := at(50, y, "")
	for x := 50.0; x < 500; x++ {
		if cells[x] == "" {
			continue
		}
		for i, word := range strings.Fields(cells[x]) {
			if l.Text != "" {
				l.Text += " "
			}
			begin := x + 5*float64(strings.Index(cells[x], word))
			if i > 0 {
				begin = l.Words[len(l.Words)-1].X2 + 3
			}
			start := len(l.Text)
			l.Text += word
			l.Box.X2 = begin + 5*float64(len(word))
			l.Words = append(l.Words, layout.Word{Start: start, End: len(l.Text), X1: begin, X2: l.Box.X2})
		}
	}
	return l
}

func TestAmountsNearTheirLabels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		rows      []map[float64]string
		want      string
	}{
		{"numbers that end at one place", []map[float64]string{
			{50: "cash in hand", 113: "1200", 136: "1300"}, {50: "stocks", 123: "35", 141: "410"}, {50: "loans to all", 118: "700", 136: "1190"}, {50: "goods of all", 113: "1935", 136: "2900"},
		}, "table: | cash in hand | 1200 | 1300 |\n| stocks | 35 | 410 |\n| loans to all | 700 | 1190 |\n| goods of all | 1935 | 2900 |"},
		{"signs that begin at one place", []map[float64]string{
			{50: "cash in hand", 113: "$ 1200", 149: "$ 1300"}, {50: "stocks", 113: "$ 35", 149: "$ 410"}, {50: "loans to all", 113: "$ 700", 149: "$ 1190"}, {50: "goods of all", 113: "$ 1935", 149: "$ 2900"},
		}, "table: | cash in hand | $ 1200 | $ 1300 |\n| stocks | $ 35 | $ 410 |\n| loans to all | $ 700 | $ 1190 |\n| goods of all | $ 1935 | $ 2900 |"},
		{"thousands behind a space", []map[float64]string{
			{50: "cash", 128: "1 200"}, {50: "stocks", 123: "12 350"}, {50: "loans", 138: "700"}, {50: "all", 123: "14 250"},
		}, "table: | cash | 1 200 |\n| stocks | 12 350 |\n| loans | 700 |\n| all | 14 250 |"},
		{"labels with a number", []map[float64]string{
			{50: "level 1", 150: "1200"}, {50: "level 2", 160: "35"}, {50: "level 3", 155: "700"},
		}, "table: | level 1 | 1200 |\n| level 2 | 35 |\n| level 3 | 700 |"},
		{"sentences with numbers below each other", []map[float64]string{
			{50: "the pump was moved in 2019"}, {50: "the hall was opened in 2020"}, {50: "the mill was closed by 2021"},
		}, "paragraph: the pump was moved in 2019 the hall was opened in 2020 the mill was closed by 2021"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			d := layout.Document{Pages: pages(1)}
			for i, cells := range tc.rows {
				d.Lines = append(d.Lines, row(100+14*float64(i), cells))
			}
			got := outlineOf(d.Blocks())
			for i := range got {
				lines := strings.Split(got[i], "\n")
				if len(lines) > 1 && strings.HasPrefix(lines[1], "| ---") {
					lines = append(lines[:1], lines[2:]...)
				}
				got[i] = strings.Join(lines, "\n")
			}
			if len(got) != 1 || got[0] != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
