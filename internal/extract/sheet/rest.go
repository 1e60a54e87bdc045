package sheet

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/xuri/excelize/v2"
)

// rest is what a sheet says beside its cells.
type rest struct {
	lastRow      int      // number of the last row
	merges       []merged // by the first row
	open         []merged // that cover the row that is read, or rows below it
	headerFooter *markup.Node
	hasTexts     bool // a cell names a text of the workbook by its number
	formulas     formulas
}

// merged is a range of merged cells. Columns count from 0.
type merged struct{ top, bottom, first, last int }

var (
	rowStart = regexp.MustCompile(`<(?:\w+:)?row(?:\s[^>]*?\sr="(\d+)"|\s+r="(\d+)"|[\s/>])`)
	textCell = regexp.MustCompile(`<(?:\w+:)?c\s[^>]*\bt=["']s["']`)
	dataEnd  = regexp.MustCompile(`</(?:\w+:)?sheetData\s*>|<(?:\w+:)?sheetData\s*/>`)
)

// readRest reads a sheet without parsing its cells, which may be millions.
func (r *reader) readRest(part string) (rest, error) {
	f, err := r.zip.Open(part)
	if err != nil {
		return rest{}, err
	}
	defer f.Close()
	var out rest
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		piece, err := in.ReadSlice('>')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue // in a text, which the library reads
		case errors.Is(err, io.EOF):
			return rest{}, container.Damaged(io.ErrUnexpectedEOF)
		case err != nil:
			return rest{}, err
		}
		t := tag(piece)
		out.formulas.add(piece, t)
		switch {
		case bytes.Contains(t, []byte("sheetData")) && dataEnd.Match(t):
			out.readEnd(in)
			return out, nil
		case bytes.Contains(t, []byte("row")):
			out.countRow(t)
		case !out.hasTexts && bytes.IndexByte(t, 't') > 0:
			out.hasTexts = textCell.Match(t)
		}
	}
}

// tag returns the tag at the end of a piece.
func tag(piece []byte) []byte {
	if i := bytes.LastIndexByte(piece, '<'); i >= 0 {
		return piece[i:]
	}
	return nil
}

func (r *rest) countRow(tag []byte) {
	found := rowStart.FindSubmatch(tag)
	if found == nil {
		return
	}
	r.lastRow++
	if stated := string(found[1]) + string(found[2]); stated != "" {
		if n, err := strconv.Atoi(stated); err == nil && n <= excelize.TotalRows {
			r.lastRow = n
		}
	}
}

// readEnd reads what follows the cells. The end tag of the sheet has no start tag
// there, so the error that it causes is none.
func (r *rest) readEnd(in io.Reader) {
	wrapped := io.MultiReader(strings.NewReader("<rest>"), in)
	_ = markup.Each(wrapped, func(n *markup.Node) bool { return n.Name == "rest" || n.Name == "mergeCells" }, func(n *markup.Node) error {
		switch n.Name {
		case "mergeCell":
			r.merge(n.Attr("ref"))
		case "headerFooter":
			r.headerFooter = n
		}
		return nil
	})
	slices.SortFunc(r.merges, func(a, b merged) int { return cmp.Compare(a.top, b.top) })
}

// maxMerges bounds the merged ranges of a sheet.
const maxMerges = 100_000

func (r *rest) merge(ref string) {
	from, to, found := strings.Cut(ref, ":")
	first, top, err := excelize.CellNameToCoordinates(from)
	if err != nil || !found || len(r.merges) >= maxMerges {
		return
	}
	last, bottom, err := excelize.CellNameToCoordinates(to)
	if err == nil && last >= first && bottom >= top {
		r.merges = append(r.merges, merged{top, bottom, first - 1, last - 1})
	}
}

// mergedAt returns the ranges that contain cells of a row. Rows come in order.
func (r *rest) mergedAt(row int) []merged {
	r.open = slices.DeleteFunc(r.open, func(m merged) bool { return m.bottom < row })
	for len(r.merges) > 0 && r.merges[0].top <= row {
		if r.merges[0].bottom >= row {
			r.open = append(r.open, r.merges[0])
		}
		r.merges = r.merges[1:]
	}
	return r.open
}
