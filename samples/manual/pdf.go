package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// PDF returns the manual as a PDF 1.4 file, the same bytes each time.
func PDF() []byte {
	streams := set(content())
	// Objects 1 to 4 are the catalog, the page tree and the two fonts; 5 is the
	// document's information; then follow two objects per page.
	const firstPage = 6
	var kids []string
	for i := range streams {
		kids = append(kids, fmt.Sprintf("%d 0 R", firstPage+2*i))
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Title (%s) /Author (Halden Instruments AS) >>", title),
	}
	for i, stream := range streams {
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Resources << /Font << /%s 3 0 R /%s 4 0 R >> >> /Contents %d 0 R >>",
				pageWidth, pageHeight, regular, bold, firstPage+2*i+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", len(stream), stream))
	}
	return assemble(objects)
}

// assemble numbers the objects from 1 and writes the cross-reference table.
// Object 1 must be the catalog, object 5 the document's information.
func assemble(objects []string) []byte {
	var file bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = file.Len()
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := file.Len()
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&file, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&file, "trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return file.Bytes()
}
