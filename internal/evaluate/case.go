package evaluate

import "cmp"

// Case is what is judged: an answer to an item, and the passages that the answerer had.
type Case struct {
	Item     Item
	Answer   string    // with its tags <citation id="chunk">[1]</citation>
	Passages []Passage // in the order in which they were found
}

// Passage is a passage that was found for a question.
type Passage struct {
	ChunkID    string `json:"chunk_id"`
	DocumentID string `json:"document_id"`
	ExternalID string `json:"external_id,omitempty"`
	Document   string `json:"document,omitempty"` // name
	Heading    string `json:"heading,omitempty"`
	Header     string `json:"header,omitempty"` // caption and header row of the table that Text continues
	Text       string `json:"text"`
	Pages      []int  `json:"pages,omitempty"` // from 1
	URL        string `json:"url,omitempty"`   // of a web page
}

// id returns the id by which an answer cites the passage: that of its chunk, or the address of a page of
// the web.
func (p Passage) id() string { return cmp.Or(p.ChunkID, p.URL) }

// whole returns the text with the header of the table that it continues.
func (p Passage) whole() string {
	if p.Header == "" {
		return p.Text
	}
	return p.Header + "\n" + p.Text
}
