package e2e_test

import (
	"bytes"
	"fmt"
)

// textPDF returns a PDF with one page for each list of lines, in the viewer's own
// Helvetica. Lines are ASCII without parentheses or backslashes.
func textPDF(pages [][]string) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	var kids bytes.Buffer
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for _, lines := range pages {
		var text bytes.Buffer
		text.WriteString("BT /F1 10 Tf 14 TL 60 780 Td\n")
		for _, line := range lines {
			fmt.Fprintf(&text, "(%s) Tj T*\n", line)
		}
		text.WriteString("ET")
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", len(offsets)+2)
		object("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String())
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return out.Bytes()
}
