package record

import (
	"slices"
)

// ResearchMessage is a message of the person who asked, which steers a research.
type ResearchMessage struct {
	Text string `json:"text"`
}

// OutlinedSection is a section, and the numbers of the notes that it rests on.
type OutlinedSection struct {
	Heading string `json:"heading"`
	Notes   []int  `json:"notes"`
}

// PlannedQuestion is a sub-question, and other ways to search for it.
type PlannedQuestion struct {
	Question string   `json:"question"`
	Queries  []string `json:"queries,omitempty"`
}

// Searches returns what to search for, at most so many: the question, and then its queries.
func (q PlannedQuestion) Searches(most int) []string {
	var list []string
	for _, query := range append([]string{q.Question}, q.Queries...) {
		if query != "" && !slices.Contains(list, query) && len(list) < most {
			list = append(list, query)
		}
	}
	return list
}

// TakenNotes are the notes on a sub-question.
type TakenNotes struct {
	Notes   []Note `json:"notes"`
	Missing string `json:"missing,omitempty"` // what is still unknown
}

// Note is the words of a model, with the chunks and pages of the web that they rest on.
type Note struct {
	Text   string   `json:"text"`
	Chunks []string `json:"chunks,omitempty"`
	Pages  []string `json:"pages,omitempty"` // addresses
}

// Sources returns the chunks and the pages.
func (n Note) Sources() []string { return slices.Concat(n.Chunks, n.Pages) }
