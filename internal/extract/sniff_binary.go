package extract

import (
	"bytes"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// binaryKind returns the kind of a file that is not plain text, "" if the kind
// is unknown or the file may be text in an old character set.
func binaryKind(name string, head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return zipKind(name, head)
	case bytes.HasPrefix(head, []byte("\x09\x04\x06\x00")), bytes.HasPrefix(head, []byte("\x09\x02\x06\x00")),
		bytes.HasPrefix(head, []byte("\x09\x00\x04\x00")):
		return "an old Excel workbook (.xls)" // BIFF 2 to 4, from before OLE
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return "an RTF document"
	}
	found := mimetype.Detect(head)
	for m := found; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return ""
		}
		if m.Is("application/x-ole-storage") {
			return oleKind(name, found)
		}
	}
	mt, _, _ := strings.Cut(found.String(), ";")
	if mt == "application/octet-stream" {
		return ""
	}
	return kindOf(mt)
}

func kindOf(mediaType string) string {
	family, _, _ := strings.Cut(mediaType, "/")
	switch {
	case mediaType == "application/ogg":
		return "an audio file (Ogg)"
	case family == "image":
		return "an image (" + mediaType + ")"
	case family == "audio":
		return "an audio file (" + mediaType + ")"
	case family == "video":
		return "a video (" + mediaType + ")"
	case family == "font":
		return "a font (" + mediaType + ")"
	}
	for _, a := range []string{"zip", "x-tar", "gzip", "bzip2", "7z", "rar", "x-xz", "zstd", "lzip", "x-xar", "cpio", "cab"} {
		if strings.Contains(mediaType, a) {
			return "an archive (" + mediaType + ")"
		}
	}
	return "a file of type " + mediaType
}

// Office documents come in containers (ZIP, OLE) that say little about them. If
// the first bytes do not decide the kind, the extension does.
const (
	wordKind       = "a Word document"
	excelKind      = "an Excel workbook"
	powerpointKind = "a PowerPoint presentation"
	odfKind        = "an OpenDocument file"
	epubKind       = "an EPUB book"
	iworkKind      = "an Apple iWork document"
)

func kindByExtension(name string, container map[string]string, otherwise string) string {
	if kind, ok := container[strings.ToLower(path.Ext(name))]; ok {
		return kind
	}
	return otherwise
}

func oleKind(name string, found *mimetype.MIME) string {
	switch found.Extension() {
	case ".doc":
		return wordKind + " (.doc)"
	case ".xls":
		return excelKind + " (.xls)"
	case ".ppt":
		return powerpointKind + " (.ppt)"
	case ".msg":
		return "an Outlook message (.msg)"
	}
	return kindByExtension(name, map[string]string{
		".doc": wordKind, ".docx": wordKind, ".xls": excelKind, ".xlsx": excelKind,
		".ppt": powerpointKind, ".pptx": powerpointKind, ".msg": "an Outlook message",
	}, "a Microsoft Office document (or another OLE file)")
}

// zipKind distinguishes office documents from other archives by the names of
// their first entries, then by the extension.
func zipKind(name string, head []byte) string {
	for _, k := range []struct{ mark, kind string }{
		{"application/epub+zip", epubKind},
		{"application/vnd.oasis.opendocument.text", "an OpenDocument text (.odt)"},
		{"application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet (.ods)"},
		{"application/vnd.oasis.opendocument.presentation", "an OpenDocument presentation (.odp)"},
		{"application/vnd.oasis.opendocument", odfKind},
		{"application/vnd.sun.xml", odfKind},
		{"word/", wordKind + " (.docx)"},
		{"xl/", excelKind + " (.xlsx)"},
		{"ppt/", powerpointKind + " (.pptx)"},
		{"[Content_Types].xml", "a Microsoft Office document"},
		{"index.apxl", iworkKind}, {".iwa", iworkKind}, {"buildVersionHistory.plist", iworkKind},
		{"META-INF/MANIFEST.MF", "a Java archive"},
	} {
		if bytes.Contains(head, []byte(k.mark)) {
			return k.kind
		}
	}
	return kindByExtension(name, map[string]string{
		".key": iworkKind, ".pages": iworkKind, ".numbers": iworkKind, ".epub": epubKind,
		".odt": odfKind, ".ods": odfKind, ".odp": odfKind,
		".docx": wordKind, ".xlsx": excelKind, ".pptx": powerpointKind,
	}, "a ZIP archive")
}
