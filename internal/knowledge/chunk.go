package knowledge

// Chunk is a passage of one version of a document: what is embedded, found and
// cited. Text is exactly the document's text at Span; Lines lie in Text.
type Chunk struct {
	ID          string   `json:"id"`
	DocumentID  string   `json:"document_id"`
	Version     int      `json:"version"`
	Ordinal     int      `json:"ordinal"`         // 0 = first
	Title       string   `json:"title,omitempty"` // what names the document in the embedded text: its name, and its title on the next line
	Text        string   `json:"text"`
	Span        Span     `json:"span"`
	HeadingPath []string `json:"heading_path,omitempty"`
	Header      string   `json:"header,omitempty"` // caption and header row of the table that the chunk continues
	Lines       Lines    `json:"lines,omitempty"`
	Pages       Pages    `json:"pages,omitempty"` // of the pages that Lines are on
	Language    string   `json:"language,omitempty"`
	Origin      Origin   `json:"origin,omitzero"`  // the smallest range of whole lines that is known to hold it
	Place       string   `json:"place,omitempty"`  // in a spreadsheet: the sheet and range of cells, "Sales!A2:D41"
	Time        Seconds  `json:"time,omitzero"`    // of speech and subtitles
	Speech      Speech   `json:"speech,omitempty"` // segments that lie in Text, of which Time is the whole
	Modality    Modality `json:"modality,omitempty"`
	Figures     []string `json:"figures,omitempty"` // names of the assets that show parts of it
	Context     string   `json:"context,omitempty"` // a sentence that places it in the document, written by a model
	// Embedded is what a step of the project embeds and searches in place of the text and its
	// context; "" = these.
	Embedded string `json:"embedded,omitempty"`
	// Parent is the part of the document that is given to the model when this chunk
	// is found. It holds Span. Zero means the chunk itself.
	Parent Span `json:"parent,omitzero"`
}

// Hit is one chunk that a leg of the index found. Higher Score is better; the
// scores of two legs cannot be compared.
type Hit struct {
	ChunkID    string
	DocumentID string
	Version    int
	Score      float64
}
