package answering

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
)

// TakingNotes holds the activities that answer a sub-question of a research.
type TakingNotes struct {
	stepLog

	Blobs    step.Blobs
	searches *searches
	passages *passages
	web      *web
	research *research
}

// ReadInput asks to search for a sub-question, or to take notes of what was found.
type ReadInput struct {
	knowledge.RunRef
	Round    int      `json:"round"`    // 1 = first
	Plan     string   `json:"plan"`     // the blob that has its words
	Question int      `json:"question"` // 0 = first
	Searches []string `json:"searches,omitempty"`
	Given    string   `json:"given,omitempty"` // blob of the passages that a webhook gave in place of passages of documents
}

// key returns the key of a result of the sub-question.
func (in ReadInput) key(name string) string {
	return in.ResearchKey(fmt.Sprintf("%d-%d-%s", in.Round, in.Question+1, name))
}

// FoundResult names the searches of a sub-question.
type FoundResult struct {
	Searches []string        `json:"searches"`
	Found    int             `json:"found"` // passages, or pages of the web
	Usage    knowledge.Usage `json:"usage,omitzero"`
}

// SearchResearch searches for a sub-question. It repeats no search whose result is stored.
func (a *TakingNotes) SearchResearch(ctx context.Context, in ReadInput) (FoundResult, error) {
	defer step.Heartbeat(ctx)()
	found, err := a.searchResearch(ctx, in)
	if err != nil {
		return FoundResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("search for question %d of round %d: %w", in.Question+1, in.Round, err))
	}
	return found, nil
}

func (a *TakingNotes) searchResearch(ctx context.Context, in ReadInput) (FoundResult, error) {
	return a.searchEach(ctx, in, maxQueries, func(request knowledge.Request, i int, query string) (key string, search record.Search, used knowledge.Usage, err error) {
		found, err := a.searches.find(ctx, in.key(fmt.Sprintf("search-%d", i+1)), request, query)
		if err == nil {
			err = a.Blobs.GetJSON(ctx, found.Key, &search)
		}
		return found.Key, search, found.Usage, err
	})
}

// searchEach searches for each of a sub-question's queries, at most for so many, and counts
// what was found by all of them together.
func (a *TakingNotes) searchEach(ctx context.Context, in ReadInput, most int, search func(r knowledge.Request, i int, query string) (key string, found record.Search, used knowledge.Usage, err error)) (FoundResult, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return FoundResult{}, err
	}
	q, err := a.research.question(ctx, in.Plan, in.Question)
	if err != nil {
		return FoundResult{}, err
	}
	var result FoundResult
	seen := map[string]bool{}
	for i, query := range q.Searches(most) {
		key, found, used, err := search(request, i, query)
		if err != nil {
			return FoundResult{}, fmt.Errorf("search %d: %w", i+1, err)
		}
		for _, p := range found.Passages {
			seen[p.ID()] = true
		}
		result.Searches = append(result.Searches, key)
		result.Usage.Add(used)
	}
	result.Found = len(seen)
	return result, nil
}

// NotesResult counts the notes on a sub-question.
type NotesResult struct {
	Key   string          `json:"key"`
	Notes int             `json:"notes"`
	Usage knowledge.Usage `json:"usage,omitzero"`
}

// NotesRecord is the stored notes on a sub-question.
type NotesRecord struct {
	record.TakenNotes
	step.Called
}

var notesTool = model.Tool{
	Name: "take_notes", Description: "Write down what the passages say about the sub-question.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"notes":{"type":"array","items":{"type":"object","properties":{` +
		`"text":{"type":"string"},"sources":{"type":"array","items":{"type":"integer"}}},"required":["text","sources"],"additionalProperties":false}},` +
		`"missing":{"type":"string"}},"required":["notes","missing"],"additionalProperties":false}`),
}

// TakeNotes has the model take notes of the passages that were found. It makes no call
// whose result is stored, and none without passages. A note without a passage that the
// model was given is dropped.
func (a *TakingNotes) TakeNotes(ctx context.Context, in ReadInput) (NotesResult, error) {
	defer step.Heartbeat(ctx)()
	key := in.ResearchNotesKey(in.Round, in.Question+1)
	notes, err := step.Stored(ctx, a.Blobs, key, func() (NotesRecord, error) { return a.takeNotes(ctx, in) })
	if err != nil {
		return NotesResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("take notes on question %d of round %d: %w", in.Question+1, in.Round, err))
	}
	return NotesResult{Key: key, Notes: len(notes.Notes), Usage: notes.Usage}, nil
}

func (a *TakingNotes) takeNotes(ctx context.Context, in ReadInput) (NotesRecord, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return NotesRecord{}, err
	}
	q, err := a.research.question(ctx, in.Plan, in.Question)
	if err != nil {
		return NotesRecord{}, err
	}
	passages, err := a.passages.lookUp(ctx, request.Principal, record.Loop{Given: in.Given, Searches: in.Searches})
	if err != nil || len(passages.all) == 0 {
		return NotesRecord{}, err
	}
	system, user := prompt.Research{Question: request.Question, Date: request.Date}.TakeNotes(q.Question, passages.all)
	var taken struct {
		Notes []struct {
			Text    string `json:"text"`
			Sources []int  `json:"sources"`
		} `json:"notes"`
		Missing string `json:"missing"`
	}
	notes := NotesRecord{TakenNotes: record.TakenNotes{Notes: []record.Note{}}}
	if notes.Called, err = a.research.require(ctx, in.RunRef, request, system, user, notesTool, &taken); err != nil {
		return NotesRecord{}, err
	}
	notes.Missing = line(withoutMarks(taken.Missing), maxNoteRunes)
	for _, n := range taken.Notes {
		note := record.Note{Text: line(withoutMarks(n.Text), maxNoteRunes)}
		note.Chunks, note.Pages = sourcesOf(passages.all, n.Sources)
		if note.Text != "" && len(note.Sources()) > 0 && len(notes.Notes) < maxNotes {
			notes.Notes = append(notes.Notes, note)
		}
	}
	return notes, nil
}

// sourcesOf returns the chunks and the pages of the passages with these ranks.
func sourcesOf(passages []citation.Context, ranks []int) (chunks, pages []string) {
	for _, p := range passages {
		switch {
		case !slices.Contains(ranks, p.Rank):
		case p.URL != "":
			pages = append(pages, p.URL)
		default:
			chunks = append(chunks, p.ChunkID)
		}
	}
	return chunks, pages
}

// noted are the notes of a research whose passages the asker may still read, numbered
// over the whole research.
type noted struct {
	list     []note
	gaps     []gap
	passages []citation.Context // that the notes rest on, with their ranks over all searches
}

// note is a note with its number, 1 = first, and the ranks of its passages.
type note struct {
	record.Note
	number  int
	reading int // index of the sub-question
	ranks   []int
}

// gap is what the notes on a sub-question leave open, in the model's words.
type gap struct {
	reading int // index of the sub-question
	text    string
	noted   bool // there are notes on it
}

// notes reads the notes. One that rests on a passage which is gone or no longer allowed
// is left out, and no other note takes its number.
func (a *research) notes(ctx context.Context, r knowledge.Request, research Research) (noted, error) {
	found := noted{}
	if len(research.Reading) == 0 {
		return found, nil
	}
	words, err := a.passages.lookUp(ctx, r.Principal, research.Found())
	if err != nil {
		return found, err
	}
	ranks := map[string]int{}
	for _, p := range words.all {
		ranks[cmp.Or(p.ChunkID, p.URL)] = p.Rank
	}
	used, number := map[int]bool{}, 0
	for i, q := range research.Reading {
		if q.Notes == "" {
			continue
		}
		var stored NotesRecord
		if err := a.Blobs.GetJSON(ctx, q.Notes, &stored); err != nil {
			return found, fmt.Errorf("read notes %s: %w", q.Notes, err)
		}
		complete := true
		for _, n := range stored.Notes {
			number++
			one := note{Note: n, number: number, reading: i}
			for _, source := range n.Sources() {
				if rank, ok := ranks[source]; ok {
					one.ranks = append(one.ranks, rank)
				}
			}
			if len(one.ranks) < len(n.Sources()) {
				complete = false
				continue
			}
			for _, rank := range one.ranks {
				used[rank] = true
			}
			found.list = append(found.list, one)
		}
		if stored.Missing != "" && complete { // else it may repeat what is no longer allowed
			found.gaps = append(found.gaps, gap{i, stored.Missing, len(stored.Notes) > 0})
		}
	}
	for _, p := range words.all {
		if used[p.Rank] {
			found.passages = append(found.passages, p)
		}
	}
	return found, nil
}

// prompted returns the notes for a prompt, with the ranks of their passages if these are
// in it.
func (n noted) prompted(ranks bool) []prompt.Note {
	list := make([]prompt.Note, 0, len(n.list))
	for _, x := range n.list {
		one := prompt.Note{Number: x.number, Text: x.Text}
		if ranks {
			one.Ranks = x.ranks
		}
		list = append(list, one)
	}
	return list
}

// only returns the notes with these numbers, and their passages.
func (n noted) only(numbers []int) noted {
	var kept noted
	used := map[int]bool{}
	for _, x := range n.list {
		if slices.Contains(numbers, x.number) {
			kept.list = append(kept.list, x)
			for _, rank := range x.ranks {
				used[rank] = true
			}
		}
	}
	for _, p := range n.passages {
		if used[p.Rank] {
			kept.passages = append(kept.passages, p)
		}
	}
	return kept
}
