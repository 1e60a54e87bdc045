package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Table writes rows under a header, in columns.
func Table(out io.Writer, header []string, rows [][]string) error {
	return columns(out, "", append([][]string{header}, rows...))
}

// Fields writes names and values, leaving out those without a value.
func Fields(out io.Writer, pairs ...string) error {
	var rows [][]string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			rows = append(rows, pairs[i:i+2])
		}
	}
	return columns(out, "", rows)
}

func columns(out io.Writer, indent string, rows [][]string) error {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = line(cell)
		}
		fmt.Fprintln(w, indent+strings.Join(cells, "\t")) // a strings.Builder takes everything
	}
	w.Flush()
	for row := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(row, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes v as indented JSON.
func JSON(out io.Writer, v any) error { return encode(out, v, "  ") }

// JSONLine writes v as JSON on one line.
func JSONLine(out io.Writer, v any) error { return encode(out, v, "") }

func encode(out io.Writer, v any, indent string) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(out, escape(text.String()))
	return err
}

// Time writes a time to the second, in the reader's zone; zero is nothing.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d B", n)
	}
}

// Count writes a number of things, whose name is given for one of them.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Duration writes a time span in its two largest units.
func Duration(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
}

// Shorten cuts a text after a number of code points, and marks the cut.
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
