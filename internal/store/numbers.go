package store

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Lines and pages are stored as JSON arrays of arrays of numbers: a chunk of a
// PDF has a dozen of them, a search reads fifty chunks, and a reader of nothing
// but numbers is an order of magnitude faster than one of any JSON.

// encodeLines returns [[start,end,page,x1,y1,x2,y2],…], boxes rounded to
// hundredths of a point; "" for none. A line with a hyphen ends with a 1.
func encodeLines(lines []knowledge.Line) string {
	return encodeNumbers(len(lines), func(b []byte, i int) []byte {
		l := lines[i]
		b = appendNumbers(b, float64(l.Start), float64(l.End), float64(l.Page), l.Box.X1, l.Box.Y1, l.Box.X2, l.Box.Y2)
		if l.Hyphen {
			b = append(b, ",1"...)
		}
		return b
	})
}

func decodeLines(text string) ([]knowledge.Line, error) {
	var lines []knowledge.Line
	err := decodeNumbers(text, 7, 8, func(n []float64) {
		lines = append(lines, knowledge.Line{
			Start: int(n[0]), End: int(n[1]), Page: int(n[2]),
			Box: knowledge.Box{X1: n[3], Y1: n[4], X2: n[5], Y2: n[6]}, Hyphen: len(n) == 8,
		})
	})
	return lines, err
}

// encodePages returns [[page,width,height],…], like encodeLines.
func encodePages(pages []knowledge.PageSize) string {
	return encodeNumbers(len(pages), func(b []byte, i int) []byte {
		return appendNumbers(b, float64(pages[i].Page), pages[i].Width, pages[i].Height)
	})
}

func decodePages(text string) ([]knowledge.PageSize, error) {
	var pages []knowledge.PageSize
	err := decodeNumbers(text, 3, 3, func(n []float64) {
		pages = append(pages, knowledge.PageSize{Page: int(n[0]), Width: n[1], Height: n[2]})
	})
	return pages, err
}

func encodeNumbers(count int, row func(b []byte, i int) []byte) string {
	if count == 0 {
		return ""
	}
	b := make([]byte, 0, 48*count)
	for i := range count {
		b = append(b, ',', '[')
		b = append(row(b, i), ']')
	}
	b[0] = '[' // in place of the first comma
	return string(append(b, ']'))
}

func appendNumbers(b []byte, numbers ...float64) []byte {
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, math.Round(n*100)/100, 'f', -1, 64)
	}
	return b
}

// decodeNumbers calls row with each inner array, which must hold least to most
// numbers. The slice is used again for the next one.
func decodeNumbers(text string, least, most int, row func(numbers []float64)) error {
	numbers := make([]float64, 0, 8)
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == '-' || c >= '0' && c <= '9':
			n, length := leadingNumber(text[i:])
			numbers = append(numbers, n)
			i += length
			continue
		case c == ']' && len(numbers) > 0:
			if len(numbers) < least || len(numbers) > most {
				return fmt.Errorf("decode numbers: %d in a row of %d to %d", len(numbers), least, most)
			}
			row(numbers)
			numbers = numbers[:0]
		case c != '[' && c != ']' && c != ',':
			return fmt.Errorf("decode numbers: unexpected %q", c)
		}
		i++
	}
	return nil
}

// leadingNumber reads the number with which text begins, and returns its length.
// A mantissa below 2^53 over a power of ten is the nearest float64, which is all
// that appendNumbers writes.
func leadingNumber(text string) (n float64, length int) {
	mantissa, scale, point := int64(0), 1.0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '-' && i == 0:
		case c == '.' && !point:
			point = true
		case c >= '0' && c <= '9':
			mantissa = 10*mantissa + int64(c-'0')
			if point {
				scale *= 10
			}
		default:
			return signed(text, mantissa, scale), i
		}
	}
	return signed(text, mantissa, scale), len(text)
}

func signed(text string, mantissa int64, scale float64) float64 {
	if text[0] == '-' {
		mantissa = -mantissa
	}
	return float64(mantissa) / scale
}
