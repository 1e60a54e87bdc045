package sheet

import (
	"regexp"
	"strings"

	"github.com/xuri/excelize/v2"
)

// showSigns makes the library show negative numbers with a minus where a format tells them from
// positive ones by their colour alone.
func showSigns(f *excelize.File) {
	if f.Styles == nil || f.Styles.NumFmts == nil {
		return
	}
	for _, format := range f.Styles.NumFmts.NumFmt {
		format.FormatCode = withSign(format.FormatCode)
	}
}

var (
	colour  = regexp.MustCompile(`(?i)\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]`)
	spacing = regexp.MustCompile(`_.|\*.| `)
)

// withSign returns a format of numbers whose second part, that of negative numbers, begins with a
// minus if it is the first part in another colour.
func withSign(format string) string {
	parts := strings.Split(format, ";")
	if len(parts) < 2 || !strings.ContainsAny(parts[1], "0#?") {
		return format
	}
	bare := func(part string) string { return spacing.ReplaceAllString(colour.ReplaceAllString(part, ""), "") }
	if bare(parts[0]) != bare(parts[1]) || strings.ContainsAny(bare(parts[1]), "-<>=") {
		return format
	}
	parts[1] = "-" + colour.ReplaceAllString(parts[1], "")
	return strings.Join(parts, ";")
}
