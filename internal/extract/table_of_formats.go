package extract

// The media types that Sniff returns, beside text/x-<language> for source code.
const (
	TypeText     = "text/plain"
	TypeMarkdown = "text/markdown"
	TypeAsciiDoc = "text/asciidoc"
	TypeLaTeX    = "application/x-latex"
	TypeHTML     = "text/html"
	TypePDF      = "application/pdf"
	TypeCSV      = "text/csv"
	TypeTSV      = "text/tab-separated-values"
	TypeJSON     = "application/json"
	TypeNDJSON   = "application/x-ndjson"
	TypeXML      = "application/xml"
	TypeSVG      = "image/svg+xml"
	TypeWebVTT   = "text/vtt"
	TypeSubRip   = "application/x-subrip"
	TypeMail     = "message/rfc822"
	TypeMHT      = "multipart/related"
	TypeMSG      = "application/vnd.ms-outlook"

	TypeDOCX    = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	TypePPTX    = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	TypeXLSX    = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	TypeODT     = "application/vnd.oasis.opendocument.text"
	TypeODP     = "application/vnd.oasis.opendocument.presentation"
	TypeODS     = "application/vnd.oasis.opendocument.spreadsheet"
	TypeEPUB    = "application/epub+zip"
	TypeDOC     = "application/msword"
	TypePPT     = "application/vnd.ms-powerpoint"
	TypeXLS     = "application/vnd.ms-excel"
	TypeRTF     = "application/rtf"
	TypeKeynote = "application/vnd.apple.keynote"
	TypePages   = "application/vnd.apple.pages"
	TypeNumbers = "application/vnd.apple.numbers"

	TypePNG  = "image/png"
	TypeJPEG = "image/jpeg"
	TypeTIFF = "image/tiff"
	TypeGIF  = "image/gif"
	TypeWebP = "image/webp"
	TypeBMP  = "image/bmp"
	TypeHEIC = "image/heic"
	TypeMP3  = "audio/mpeg"
	TypeWAV  = "audio/wav"
	TypeM4A  = "audio/mp4"
	TypeFLAC = "audio/flac"
	TypeOGG  = "audio/ogg"
	TypeAAC  = "audio/aac"
	TypeMP4  = "video/mp4"
	TypeWebM = "video/webm"

	TypeZIP = "application/zip"

	// sourceCode begins the media types of source code.
	sourceCode = "text/x-"
)

// maxPDF is the largest PDF in bytes; pdfium keeps the whole file in memory.
const maxPDF = 256 << 20

// maxOffice is the largest office document or book in bytes. The unpacked bytes have a
// limit of their own.
const maxOffice = 256 << 20

// formats is the table of formats. A new format is a row here and a reader in a
// package of its own.
var formats = []Format{
	{MediaType: TypeText, Label: "TXT", Name: "a text", Extensions: []string{"txt", "text", "log", "rst", "org"}, IsText: true, IsSafe: true, read: readPlain},
	{MediaType: TypeMarkdown, Label: "Markdown", Name: "a Markdown text", Extensions: []string{"md", "markdown", "mdown", "mkd", "mdx"}, IsText: true, read: readMarkdown},
	{MediaType: TypeAsciiDoc, Label: "AsciiDoc", Name: "an AsciiDoc text", Extensions: []string{"adoc", "asciidoc", "asc"}, IsText: true, read: readAsciiDoc},
	{MediaType: TypeLaTeX, Label: "LaTeX", Name: "a LaTeX text", Extensions: []string{"tex", "latex", "ltx"}, IsText: true, read: readLaTeX},
	{MediaType: TypeHTML, Label: "HTML", Name: "a web page", Extensions: []string{"html", "htm", "xhtml"}, IsText: true, read: readHTML},
	{MediaType: TypeCSV, Label: "CSV", Name: "a table (CSV)", Extensions: []string{"csv"}, IsText: true, read: readTable(0)},
	{MediaType: TypeTSV, Label: "TSV", Name: "a table (TSV)", Extensions: []string{"tsv", "tab"}, IsText: true, read: readTable('\t')},
	{MediaType: TypeJSON, Label: "JSON", Name: "a JSON text", Extensions: []string{"json", "geojson", "ipynb"}, IsText: true, read: readJSON},
	{MediaType: TypeNDJSON, Label: "JSON", Name: "JSON lines", Extensions: []string{"ndjson", "jsonl"}, IsText: true, read: readJSONLines},
	{MediaType: sourceCode, Name: "source code", IsText: true, read: readCode},
	{MediaType: TypePDF, Label: "PDF", Name: "a PDF", Extensions: []string{"pdf"}, IsSafe: true, MaxBytes: maxPDF, read: readPDF, draw: drawPDF},

	{MediaType: TypeXML, Label: "XML", Name: "an XML document", Extensions: []string{"xml", "rss", "atom"}, IsText: true, read: readXML},
	{MediaType: TypeSVG, Label: "SVG", Name: "a drawing (SVG)", Extensions: []string{"svg"}, IsText: true, read: readXML},
	{MediaType: TypeWebVTT, Label: "VTT", Name: "a WebVTT subtitle file", Extensions: []string{"vtt"}, IsText: true, read: readSubtitles},
	{MediaType: TypeSubRip, Label: "SRT", Name: "a SubRip subtitle file", Extensions: []string{"srt"}, IsText: true, read: readSubtitles},
	{MediaType: TypeMail, Label: "EML", Name: "an e-mail message", Extensions: []string{"eml", "mbox"}, read: readMail},
	{MediaType: TypeMSG, Label: "MSG", Name: "a message of Outlook (.msg)", Extensions: []string{"msg", "oft"}, MaxBytes: maxOffice, read: readMSG},
	{MediaType: TypeMHT, Label: "MHT", Name: "a saved web page (MHT)", Extensions: []string{"mht", "mhtml"}, read: readMHT},

	{MediaType: TypeDOCX, Label: "DOCX", Name: "a Word document (.docx)", Extensions: []string{"docx", "docm", "dotx", "dotm"}, MaxBytes: maxOffice, read: readOOXML},
	{MediaType: TypePPTX, Label: "PPTX", Name: "a PowerPoint presentation (.pptx)", Extensions: []string{"pptx", "pptm", "ppsx", "ppsm", "potx"}, MaxBytes: maxOffice, read: readOOXML},
	{MediaType: TypeXLSX, Label: "XLSX", Name: "an Excel workbook (.xlsx)", Extensions: []string{"xlsx", "xlsm", "xltx", "xltm"}, MaxBytes: maxOffice, read: readOOXML},
	{MediaType: TypeODT, Label: "ODT", Name: "an OpenDocument text (.odt)", Extensions: []string{"odt", "ott"}, MaxBytes: maxOffice, read: readODF},
	{MediaType: TypeODP, Label: "ODP", Name: "an OpenDocument presentation (.odp)", Extensions: []string{"odp", "otp"}, MaxBytes: maxOffice, read: readODF},
	{MediaType: TypeODS, Label: "ODS", Name: "an OpenDocument spreadsheet (.ods)", Extensions: []string{"ods", "ots"}, MaxBytes: maxOffice, read: readODF},
	{MediaType: TypeEPUB, Label: "EPUB", Name: "an EPUB book", Extensions: []string{"epub"}, MaxBytes: maxOffice, read: readEPUB},
	{MediaType: TypeDOC, Label: "DOC", Name: "a Word document (.doc)", Extensions: []string{"doc", "dot"}, MaxBytes: maxOffice, read: readByConversion},
	{MediaType: TypePPT, Label: "PPT", Name: "a PowerPoint presentation (.ppt)", Extensions: []string{"ppt", "pps", "pot"}, MaxBytes: maxOffice, read: readByConversion},
	{MediaType: TypeXLS, Label: "XLS", Name: "an Excel workbook (.xls)", Extensions: []string{"xls", "xlt"}, MaxBytes: maxOffice, read: readByConversion},
	{MediaType: TypeRTF, Label: "RTF", Name: "an RTF document", Extensions: []string{"rtf"}, MaxBytes: maxOffice, read: readByConversion},
	{MediaType: TypeKeynote, Label: "KEY", Name: "a Keynote presentation", Extensions: []string{"key"}, MaxBytes: maxOffice, read: readKeynote},
	{MediaType: TypePages, Label: "Pages", Name: "a Pages document", Extensions: []string{"pages"}, MaxBytes: maxOffice, read: readPreview},
	{MediaType: TypeNumbers, Label: "Numbers", Name: "a Numbers spreadsheet", Extensions: []string{"numbers"}, MaxBytes: maxOffice, read: readPreview},

	{MediaType: TypePNG, Label: "PNG", Name: "an image (PNG)", Extensions: []string{"png"}, IsSafe: true, read: readImage, draw: drawImage},
	{MediaType: TypeJPEG, Label: "JPG", Name: "an image (JPEG)", Extensions: []string{"jpg", "jpeg"}, IsSafe: true, read: readImage, draw: drawImage},
	{MediaType: TypeTIFF, Label: "TIFF", Name: "an image (TIFF)", Extensions: []string{"tif", "tiff"}, read: readImage, draw: drawImage},
	{MediaType: TypeGIF, Label: "GIF", Name: "an image (GIF)", Extensions: []string{"gif"}, IsSafe: true, read: readImage, draw: drawImage},
	{MediaType: TypeWebP, Label: "WebP", Name: "an image (WebP)", Extensions: []string{"webp"}, IsSafe: true, read: readImage, draw: drawImage},
	{MediaType: TypeBMP, Label: "BMP", Name: "an image (BMP)", Extensions: []string{"bmp", "dib"}, IsSafe: true, read: readImage, draw: drawImage},
	{MediaType: TypeHEIC, Label: "HEIC", Name: "an image (HEIC)", Extensions: []string{"heic", "heif"}, read: readHEIC, draw: drawHEIC},
	{MediaType: TypeMP3, Label: "MP3", Name: "an audio file (MP3)", Extensions: []string{"mp3"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeWAV, Label: "WAV", Name: "an audio file (WAV)", Extensions: []string{"wav"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeM4A, Label: "M4A", Name: "an audio file (M4A)", Extensions: []string{"m4a"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeFLAC, Label: "FLAC", Name: "an audio file (FLAC)", Extensions: []string{"flac"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeOGG, Label: "OGG", Name: "an audio file (Ogg)", Extensions: []string{"ogg", "oga", "opus"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeAAC, Label: "AAC", Name: "an audio file (AAC)", Extensions: []string{"aac"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeMP4, Label: "MP4", Name: "a video (MP4)", Extensions: []string{"mp4", "m4v", "mov"}, IsSpeech: true, read: readRecording},
	{MediaType: TypeWebM, Label: "WebM", Name: "a video (WebM)", Extensions: []string{"webm", "weba"}, IsSpeech: true, read: readRecording},

	{MediaType: TypeZIP, Name: "a ZIP archive", Extensions: []string{"zip"}},
}
