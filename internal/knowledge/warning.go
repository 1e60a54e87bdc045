package knowledge

import (
	"fmt"
	"slices"
	"strings"
)

// WarningCode names what was read with doubt. Clients may depend on the codes.
type WarningCode string

// The codes of warnings.
const (
	WarnUnknownCharacters WarningCode = "unknown_characters"    // characters of a font that have no meaning
	WarnUnreadablePage    WarningCode = "unreadable_page"       // recognised text without words of any language
	WarnSecondReader      WarningCode = "second_reader"         // the usual reader of the format had a fault
	WarnFormulas          WarningCode = "formulas_not_computed" // formulas of a spreadsheet without a value
	WarnPreview           WarningCode = "preview"               // the text is from the preview in the document
	WarnAttachments       WarningCode = "attachments_not_read"  // attachments that are links or objects
	WarnIncludes          WarningCode = "includes_not_read"     // files that a text includes
	WarnScripts           WarningCode = "scripts_not_run"       // a page that seems to get its text from scripts
	WarnChanged           WarningCode = "text_changed"          // a step of the project changed the text
	WarnStepLeftOut       WarningCode = "step_left_out"         // a step of the project failed
)

// Warning is something that was read with doubt, so that the text may be wrong or
// incomplete. The document is published all the same.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"`
	Pages   []int       `json:"pages,omitempty" doc:"1: the first page; none: the whole document"` // in order
}

// Warn adds a warning to the layout. A second one of the same code adds its pages to
// the pages of the first.
func (l *Layout) Warn(code WarningCode, pages []int, format string, args ...any) {
	for i := range l.Warnings {
		if w := &l.Warnings[i]; w.Code == code {
			w.Pages = slices.Compact(slices.Sorted(slices.Values(append(w.Pages, pages...))))
			return
		}
	}
	pages = slices.Compact(slices.Sorted(slices.Values(pages)))
	l.Warnings = append(l.Warnings, Warning{Code: code, Message: fmt.Sprintf(format, args...), Pages: pages})
}

// String is a warning in one line, as the command line shows it.
func (w Warning) String() string {
	if len(w.Pages) == 0 {
		return w.Message
	}
	pages := make([]string, len(w.Pages))
	for i, page := range w.Pages {
		pages[i] = fmt.Sprint(page)
	}
	return w.Message + " (pages " + strings.Join(pages, ", ") + ")"
}
