package extract

import (
	"bytes"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// binaryType returns the media type of a file that is not plain text, "" if it is
// unknown or the file may be text in an old character set. The type need not be in
// the table of formats.
func binaryType(name string, head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return zipType(name, head)
	case bytes.HasPrefix(head, []byte("\x09\x04\x06\x00")), bytes.HasPrefix(head, []byte("\x09\x02\x06\x00")),
		bytes.HasPrefix(head, []byte("\x09\x00\x04\x00")):
		return TypeXLS // BIFF 2 to 4, from before OLE
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return TypeRTF
	case bytes.HasPrefix(head, []byte("BM")) && !isBMP(head):
		return "" // two letters alone may begin a text
	case isAAC(head):
		return TypeAAC
	}
	found := mimetype.Detect(head)
	for m := found; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return ""
		}
		if m.Is("application/x-ole-storage") {
			return oleType(name, head, found)
		}
	}
	kind, _, _ := strings.Cut(found.String(), ";")
	if kind == "application/octet-stream" {
		return ""
	}
	return usualType(kind)
}

// usualType returns the media type of the table for one of its other names.
func usualType(kind string) string {
	switch kind {
	case "audio/x-m4a":
		return TypeM4A
	case "application/ogg", "video/ogg":
		return TypeOGG
	case "video/quicktime":
		return TypeMP4
	case "image/heif", "image/heic-sequence", "image/heif-sequence":
		return TypeHEIC
	}
	return kind
}

// nameOf returns the name of a kind of file in a sentence.
func nameOf(mediaType string) string {
	if f, ok := FormatOf(mediaType); ok {
		return f.Name
	}
	family, _, _ := strings.Cut(mediaType, "/")
	switch family {
	case "image":
		return "an image (" + mediaType + ")"
	case "audio":
		return "an audio file (" + mediaType + ")"
	case "video":
		return "a video (" + mediaType + ")"
	case "font":
		return "a font (" + mediaType + ")"
	}
	for _, a := range []string{"x-tar", "gzip", "bzip2", "7z", "rar", "x-xz", "zstd", "lzip", "x-xar", "cpio", "cab"} {
		if strings.Contains(mediaType, a) {
			return "an archive (" + mediaType + ")"
		}
	}
	return "a file of type " + mediaType
}

// Office documents come in containers (ZIP, OLE) that say little about them. If
// the first bytes do not decide the kind, the extension does.

// oleType returns the type of an OLE file. An encrypted Office document of the newer
// kind is one too.
func oleType(name string, head []byte, found *mimetype.MIME) string {
	switch found.Extension() {
	case ".doc":
		return TypeDOC
	case ".xls":
		return TypeXLS
	case ".ppt":
		return TypePPT
	case ".msg":
		return TypeMSG
	}
	if bytes.Contains(head, outlookStream) {
		return TypeMSG
	}
	return extensionIn(extension(name), "application/x-ole-storage", TypeMSG, TypeDOC, TypeXLS, TypePPT, TypeDOCX, TypeXLSX, TypePPTX)
}

// outlookStream begins the names of the streams of messages of Outlook, in UTF-16.
var outlookStream = []byte("_\x00_\x00s\x00u\x00b\x00s\x00t\x00g\x001\x00.\x000\x00_\x00")

// zipType distinguishes office documents from other archives by the names of their
// first entries, then by the extension.
func zipType(name string, head []byte) string {
	for _, k := range []struct{ mark, kind string }{
		{TypeEPUB, TypeEPUB}, {TypeODT, TypeODT}, {TypeODS, TypeODS}, {TypeODP, TypeODP},
		{"application/vnd.oasis.opendocument", openDocument}, {"application/vnd.sun.xml", openDocument},
		{"word/", TypeDOCX}, {"xl/", TypeXLSX}, {"ppt/", TypePPTX},
		{"index.apxl", TypeKeynote}, {"META-INF/MANIFEST.MF", "application/java-archive"},
	} {
		if bytes.Contains(head, []byte(k.mark)) {
			return k.kind
		}
	}
	ext := extension(name)
	switch {
	case bytes.Contains(head, []byte("[Content_Types].xml")):
		return extensionIn(ext, TypeDOCX, TypeXLSX, TypePPTX) // the parser, which has all entries, decides
	case isIWork(head):
		return extensionIn(ext, iWorkType(head), TypeKeynote, TypePages, TypeNumbers)
	}
	return extensionIn(ext, TypeZIP, TypeKeynote, TypePages, TypeNumbers, TypeEPUB, TypeODT, TypeODS, TypeODP, TypeDOCX, TypeXLSX, TypePPTX)
}

// isIWork reports whether a ZIP archive is a document of an iWork program.
func isIWork(head []byte) bool {
	for _, mark := range []string{".iwa", "buildVersionHistory.plist", "QuickLook/Preview.pdf", "QuickLook/Thumbnail.jpg"} {
		if bytes.Contains(head, []byte(mark)) {
			return true
		}
	}
	return false
}

// iWorkType returns the type of an iWork document without the name of one. Only slides
// show in its entries.
func iWorkType(head []byte) string {
	for _, mark := range []string{"Slide", "index.apxl"} {
		if bytes.Contains(head, []byte(mark)) {
			return TypeKeynote
		}
	}
	return TypePages
}

// openDocument is an OpenDocument file of a kind that is not read, as a drawing.
const openDocument = "application/vnd.oasis.opendocument"

// extension returns the extension of a name in lower case, without the dot.
func extension(name string) string {
	return strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
}
