package forget

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Store is the part of the store that has the answers.
type Store interface {
	DocumentWords(ctx context.Context, p knowledge.Principal, document string, use func(text string)) error
	// WordsForSystem is DocumentWords for documents that the server removes.
	WordsForSystem(ctx context.Context, workspace, document string, use func(text string)) error
	EndedAnswers(ctx context.Context, workspace, after string, limit int) ([]store.Run, error)
	AnswerMessages(ctx context.Context, r store.Run) ([]store.Message, error)
	RewriteMessage(ctx context.Context, workspace string, m store.Message) error
	// ReleaseRun deletes the answer that is kept for a repeated request.
	ReleaseRun(ctx context.Context, workspace, run string) error
	// EraseDeleted returns once the bytes of deleted rows stand in no file.
	EraseDeleted(ctx context.Context) error
}

// Blobs has what runs have stored.
type Blobs interface {
	GetJSON(ctx context.Context, key string, v any) error
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	PutAll(ctx context.Context, items ...blob.Item) error
	DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error)
}

// Histories deletes the histories of an ended run in Temporal, which have the words of its
// answer.
type Histories interface {
	ForgetRun(ctx context.Context, r store.Run) error
}

// Forgetter cuts quotations. Safe for concurrent use.
type Forgetter struct {
	Store     Store
	Blobs     Blobs
	Histories Histories
	Log       *slog.Logger
}

// Counts are what a Forgetter changed, or would change.
type Counts struct {
	Conversations int // with a message that quotes the document
	Messages      int // that quote it
	Runs          int // whose records quote it
}

// pageRuns is the number of runs that are listed at once, and parallel how many are read at
// the same time.
const (
	pageRuns = 200
	parallel = 8
)

// Document cuts the quotations of a document out of all answers of the principal's
// workspace that have ended, and returns what it changed; with dry it changes nothing. The
// document may be removed already. A document that the principal may not change is not
// found. It can be called again, after an error too.
func (f *Forgetter) Document(ctx context.Context, p knowledge.Principal, document string, dry bool) (Counts, error) {
	j := f.newJob(p.Workspace(), dry, document)
	if err := f.Store.DocumentWords(ctx, p, document, j.phrases.add); err != nil {
		return Counts{}, err
	}
	return j.run(ctx)
}

// Documents is Document for several documents that the server removes, at once. It returns the
// number of messages that quoted them.
func (f *Forgetter) Documents(ctx context.Context, workspace string, documents []string) (messages int, err error) {
	if len(documents) == 0 {
		return 0, nil
	}
	j := f.newJob(workspace, false, documents...)
	for _, document := range documents {
		if err := f.Store.WordsForSystem(ctx, workspace, document, j.phrases.add); err != nil {
			return 0, err
		}
	}
	counts, err := j.run(ctx)
	return counts.Messages, err
}

func (f *Forgetter) newJob(workspace string, dry bool, documents ...string) *job {
	j := &job{Forgetter: f, workspace: workspace, documents: map[string]bool{}, dry: dry, phrases: phrases{}, cited: map[string]bool{}, conversations: map[string]bool{}}
	for _, document := range documents {
		j.documents[document] = true
	}
	return j
}

// run cuts the quotations.
func (j *job) run(ctx context.Context) (Counts, error) {
	// The answers that cite the document are changed last: they are where phrases come from,
	// so a call that is repeated after an error finds all of them again.
	for _, pass := range []func(context.Context, answer) error{j.collect, j.changeOthers, j.changeCited} {
		if err := j.each(ctx, pass); err != nil {
			return Counts{}, fmt.Errorf("forget %d documents: %w", len(j.documents), err)
		}
	}
	j.counts.Conversations = len(j.conversations)
	if j.dry {
		return j.counts, nil
	}
	if err := j.Store.EraseDeleted(ctx); err != nil {
		return Counts{}, fmt.Errorf("overwrite what was cut: %w", err)
	}
	j.Log.InfoContext(ctx, "quotations of documents cut", "workspace", j.workspace, "documents", slices.Sorted(maps.Keys(j.documents)),
		"conversations", j.counts.Conversations, "messages", j.counts.Messages, "runs", j.counts.Runs)
	return j.counts, nil
}

// job is one call of Document or Documents.
type job struct {
	*Forgetter
	workspace string
	documents map[string]bool // by id
	dry       bool

	mu            sync.Mutex
	phrases       phrases
	cited         map[string]bool // ids of runs whose answer cites the document
	conversations map[string]bool // that were changed
	counts        Counts
}

// each calls a function for each answer of the workspace, some at the same time.
func (j *job) each(ctx context.Context, do func(context.Context, answer) error) error {
	for after := ""; ; {
		runs, err := j.Store.EndedAnswers(ctx, j.workspace, after, pageRuns)
		if err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(parallel)
		for _, run := range runs {
			group.Go(func() error {
				a, err := j.read(ctx, run)
				if err == nil {
					err = do(ctx, a)
				}
				if err != nil {
					return fmt.Errorf("run %s: %w", run.ID, err)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if len(runs) < pageRuns {
			return nil
		}
		after = runs[len(runs)-1].ID
	}
}

// collect notes which answers cite the document, and their phrases.
func (j *job) collect(_ context.Context, a answer) error {
	chunks := a.chunks(j.documents)
	cited := false
	for _, text := range a.texts() {
		_, cut := cutCited(text, chunks)
		j.mu.Lock()
		for _, part := range cut {
			j.phrases.add(part)
			cited = true
		}
		j.mu.Unlock()
	}
	if cited {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.cited[a.run.ID] = true
	}
	return nil
}

// changeOthers cuts the phrases out of an answer that does not cite the document, and out of
// the history that the model was given with its question.
func (j *job) changeOthers(ctx context.Context, a answer) error {
	if j.cited[a.run.ID] || len(j.phrases) == 0 {
		return nil
	}
	for _, text := range a.texts() {
		if _, quotes := j.phrases.cut(text); quotes {
			return j.change(ctx, a)
		}
	}
	var request knowledge.Request
	if changed, err := j.request(ctx, a.ref(), &request); err != nil || !changed {
		return err
	}
	j.count(func(c *Counts) { c.Runs++ })
	if j.dry {
		return nil
	}
	_, err := j.Blobs.PutJSON(ctx, a.ref().RequestKey(), request)
	return err
}

// changeCited changes an answer that cites the document.
func (j *job) changeCited(ctx context.Context, a answer) error {
	if !j.cited[a.run.ID] {
		return nil
	}
	return j.change(ctx, a)
}

// shorten returns an answer without what quotes the document.
func (j *job) shorten(text string, chunks map[string]bool) string {
	text, _ = cutCited(text, chunks)
	text, _ = j.phrases.cut(text)
	return marks.ReplaceAllString(text, Mark)
}

// change cuts the quotations out of an answer: out of its messages first and out of its
// record last, so that a repeated call finds an answer that was changed in part.
func (j *job) change(ctx context.Context, a answer) error {
	chunks := a.chunks(j.documents)
	j.count(func(c *Counts) { c.Runs++ })
	if a.run.ConversationID != "" {
		messages, err := j.Store.AnswerMessages(ctx, a.run)
		if err != nil {
			return err
		}
		for _, m := range messages {
			text := j.shorten(m.Text, chunks)
			if text == m.Text {
				continue
			}
			j.count(func(c *Counts) { c.Messages++; j.conversations[m.ConversationID] = true })
			if m.Text = text; j.dry {
				continue
			}
			if err := j.Store.RewriteMessage(ctx, j.workspace, m); err != nil {
				return err
			}
		}
	}
	if j.dry {
		return nil
	}
	if err := j.Store.ReleaseRun(ctx, j.workspace, a.run.ID); err != nil {
		return err
	}
	if err := j.Histories.ForgetRun(ctx, a.run); err != nil {
		return fmt.Errorf("delete its history: %w", err)
	}
	return j.rewrite(ctx, a, chunks)
}

func (j *job) count(change func(*Counts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.counts)
}

// request reads the question of a run and cuts the phrases out of its history. It reports
// whether there were any. A run without a request has no history.
func (j *job) request(ctx context.Context, run knowledge.RunRef, request *knowledge.Request) (changed bool, err error) {
	err = j.Blobs.GetJSON(ctx, run.RequestKey(), request)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	for i, m := range request.History {
		text, quotes := j.phrases.cut(m.Content)
		request.History[i].Content, changed = text, changed || quotes
	}
	return changed, err
}
