package layout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestNoWordIsLost reads pages of words and lines at any places.
func TestNoWordIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		d := layout.Document{Pages: pages(2), Drawings: map[int]layout.Drawing{}}
		var want []string
		for page := 1; page <= 2; page++ {
			for range random.IntN(60) {
				d.Lines = append(d.Lines, anyLine(random, page, &want))
			}
			d.Drawings[page] = anyDrawing(random)
		}
		var got []string
		for _, b := range d.Blocks() {
			for _, w := range strings.Fields(b.Text) {
				if strings.HasPrefix(w, "w") {
					got = append(got, w)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d words, want %d", seed, len(got), len(want))
		}
	}
}

// onGrid returns a place on a coarse grid, so that some lines are in line.
func onGrid(random *rand.Rand, most int) float64 { return float64(random.IntN(most/20)) * 20 }

func anyLine(random *rand.Rand, page int, words *[]string) layout.Line {
	l := layout.Line{Page: page, Size: 10, Bold: random.IntN(9) == 0}
	if random.IntN(8) == 0 {
		l.Turned = 1
	}
	x, y := onGrid(random, 500), onGrid(random, 700)+float64(random.IntN(3))
	u := knowledge.Box{X1: x, Y1: y, X2: x, Y2: y + 10}
	for range 1 + random.IntN(4) {
		w := fmt.Sprintf("w%d", len(*words))
		*words = append(*words, w)
		start := len(l.Text)
		if start > 0 {
			l.Text += " "
			start++
		}
		l.Text += w
		u.X2 = x + float64(5*len(w))
		l.Words = append(l.Words, layout.Word{Start: start, End: len(l.Text), X1: x, X2: u.X2})
		x = u.X2 + 3 + onGrid(random, 60)
	}
	if l.Box = u; l.Turned == 1 {
		l.Box = layout.Upright(u, 3)
	}
	if random.IntN(10) == 0 {
		l.Words = nil
	}
	if random.IntN(10) == 0 {
		l.Role = layout.Role{Table: 1 + random.IntN(2), Row: random.IntN(4), Column: random.IntN(4), Rows: random.IntN(3), Columns: random.IntN(3)}
	}
	return l
}

func anyDrawing(random *rand.Rand) layout.Drawing {
	var d layout.Drawing
	for range random.IntN(30) {
		x, y := onGrid(random, 500), onGrid(random, 700)
		box := knowledge.Box{X1: x, Y1: y, X2: x + onGrid(random, 300), Y2: y + 1}
		if random.IntN(2) == 0 {
			box.X2, box.Y2 = x+1, y+onGrid(random, 300)
		}
		d.Rules = append(d.Rules, box)
	}
	for range random.IntN(6) {
		x, y := onGrid(random, 500), onGrid(random, 700)
		d.Fills = append(d.Fills, layout.Fill{Box: knowledge.Box{X1: x, Y1: y, X2: x + onGrid(random, 300) + 5, Y2: y + 20}})
	}
	return d
}
