package knowledge

// Chunk is a passage of one version of a document: what is embedded, found and
// cited. Text is exactly the document's text at Span; Lines lie in Text.
type Chunk struct {
	ID          string     `json:"id"`
	DocumentID  string     `json:"document_id"`
	Version     int        `json:"version"`
	Ordinal     int        `json:"ordinal"` // 0 = first
	Text        string     `json:"text"`
	Span        Span       `json:"span"`
	HeadingPath []string   `json:"heading_path,omitempty"`
	Header      string     `json:"header,omitempty"` // header row of the table that the chunk continues
	Lines       []Line     `json:"lines,omitempty"`
	Pages       []PageSize `json:"pages,omitempty"` // of the pages that Lines are on
	Language    string     `json:"language,omitempty"`
	Origin      Origin     `json:"origin,omitzero"` // the smallest range of whole lines that is known to hold it
}

// Hit is one chunk that a leg of the index found. Higher Score is better; the
// scores of two legs cannot be compared.
type Hit struct {
	ChunkID    string
	DocumentID string
	Version    int
	Score      float64
}
