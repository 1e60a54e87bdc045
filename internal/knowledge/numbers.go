package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Lines are lines in the order of their text. Their JSON is
// [[start,end,page,x1,y1,x2,y2],…], with a 1 behind the numbers of a line with a
// hyphen. A page has dozens of lines, which are read and written in most steps of an
// ingestion and in searches, and numbers alone take a tenth of the time of JSON
// objects.
type Lines []Line

// Pages are sizes of pages. The store keeps them as [[page,width,height],…].
type Pages []PageSize

// Speech is the segments of a spoken text, in their order. Its JSON is
// [[start,end,from,to],…], with the seconds rounded to hundredths.
type Speech []Segment

// Append appends the JSON of lines, nothing for none. Boxes are rounded to hundredths of
// a point.
func (l Lines) Append(b []byte) []byte {
	return appendRows(b, len(l), func(b []byte, i int) []byte {
		x := &l[i]
		b = appendNumbers(b, float64(x.Start), float64(x.End), float64(x.Page), x.Box.X1, x.Box.Y1, x.Box.X2, x.Box.Y2)
		if x.Hyphen {
			b = append(b, ",1"...)
		}
		return b
	})
}

// ParseLines parses the output of Append.
func ParseLines(text string) (Lines, error) {
	var lines Lines
	err := parseRows(text, 7, 8, func(n []float64) {
		lines = append(lines, Line{
			Start: int(n[0]), End: int(n[1]), Page: int(n[2]),
			Box: Box{X1: n[3], Y1: n[4], X2: n[5], Y2: n[6]}, Hyphen: len(n) == 8,
		})
	})
	return lines, err
}

// MarshalJSON implements json.Marshaler.
func (l Lines) MarshalJSON() ([]byte, error) { return orEmpty(l.Append(nil)), nil }

// UnmarshalJSON implements json.Unmarshaler. It also reads lines that are objects, as
// earlier versions wrote them.
func (l *Lines) UnmarshalJSON(data []byte) (err error) {
	if bytes.IndexByte(data, '{') >= 0 {
		return json.Unmarshal(data, (*[]Line)(l))
	}
	if string(data) == "null" {
		return nil
	}
	*l, err = ParseLines(string(data))
	return err
}

// Append appends pages as the store keeps them, nothing for none, rounded to hundredths
// of a point.
func (p Pages) Append(b []byte) []byte {
	return appendRows(b, len(p), func(b []byte, i int) []byte {
		return appendNumbers(b, float64(p[i].Page), p[i].Width, p[i].Height)
	})
}

// ParsePages parses the output of Append.
func ParsePages(text string) (Pages, error) {
	var pages Pages
	err := parseRows(text, 3, 3, func(n []float64) {
		pages = append(pages, PageSize{Page: int(n[0]), Width: n[1], Height: n[2]})
	})
	return pages, err
}

// Append appends the JSON of segments, nothing for none.
func (s Speech) Append(b []byte) []byte {
	return appendRows(b, len(s), func(b []byte, i int) []byte {
		return appendNumbers(b, float64(s[i].Start), float64(s[i].End), s[i].Time.Start, s[i].Time.End)
	})
}

// ParseSpeech parses the output of Append.
func ParseSpeech(text string) (Speech, error) {
	var segments Speech
	err := parseRows(text, 4, 4, func(n []float64) {
		segments = append(segments, Segment{Start: int(n[0]), End: int(n[1]), Time: Seconds{Start: n[2], End: n[3]}})
	})
	return segments, err
}

// MarshalJSON implements json.Marshaler.
func (s Speech) MarshalJSON() ([]byte, error) { return orEmpty(s.Append(nil)), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Speech) UnmarshalJSON(data []byte) (err error) {
	if string(data) != "null" {
		*s, err = ParseSpeech(string(data))
	}
	return err
}

// During returns the time of the characters [start, end): from the beginning of the first
// segment that they touch to the end of the last one. It is zero if they touch none.
func (s Speech) During(start, end int) (t Seconds) {
	for _, x := range s {
		switch {
		case x.End <= start || x.Start >= end:
		case t == (Seconds{}):
			t = x.Time
		default:
			t = Seconds{Start: min(t.Start, x.Time.Start), End: max(t.End, x.Time.End)}
		}
	}
	return t
}

func orEmpty(b []byte) []byte {
	if len(b) == 0 {
		return []byte("[]")
	}
	return b
}

func appendRows(b []byte, count int, row func(b []byte, i int) []byte) []byte {
	if count == 0 {
		return b
	}
	b = append(slices.Grow(b, 40*count), '[')
	for i := range count {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(row(append(b, '['), i), ']')
	}
	return append(b, ']')
}

func appendNumbers(b []byte, numbers ...float64) []byte {
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendHundredths(b, n)
	}
	return b
}

// appendHundredths appends a number, rounded to hundredths.
func appendHundredths(b []byte, x float64) []byte {
	rounded := math.Round(x * 100)
	if !(math.Abs(rounded) < 1<<53) {
		return strconv.AppendFloat(b, rounded/100, 'f', -1, 64)
	}
	n := int64(rounded)
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/100, 10)
	switch tenths, last := byte(n/10%10), byte(n%10); {
	case last != 0:
		return append(b, '.', '0'+tenths, '0'+last)
	case tenths != 0:
		return append(b, '.', '0'+tenths)
	default:
		return b
	}
}

// parseRows calls row with each inner array, which must hold least to most numbers.
// The slice is used again for the next one.
func parseRows(text string, least, most int, row func(numbers []float64)) error {
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
		case c != '[' && c != ']' && c != ',' && c != ' ':
			return fmt.Errorf("decode numbers: unexpected %q", c)
		}
		i++
	}
	return nil
}

// leadingNumber reads the number with which text begins, and returns its length.
// A mantissa below 2^53 over a power of ten is the nearest float64, which is all
// that appendHundredths writes.
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
