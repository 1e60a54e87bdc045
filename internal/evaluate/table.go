package evaluate

import "io"

// WriteTable writes a report as plain text: a line for each measure with its interval, the
// differences to the baseline, the lowest items, and the decision of the gate.
func WriteTable(w io.Writer, r Report) error { panic("not built") }
