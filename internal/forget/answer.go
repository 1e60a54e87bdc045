package forget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// answer is what a run that has ended left.
type answer struct {
	run    store.Run
	record *record.Answer // nil = it has none, because it did not complete
	log    stream.StoredLog
}

func (a answer) ref() knowledge.RunRef {
	return knowledge.RunRef{Workspace: a.run.Workspace, Project: a.run.Project, Run: a.run.ID}
}

func (j *job) read(ctx context.Context, run store.Run) (answer, error) {
	a := answer{run: run}
	if run.ResultKey != "" {
		a.record = &record.Answer{}
		switch err := j.Blobs.GetJSON(ctx, run.ResultKey, a.record); {
		case errors.Is(err, blob.ErrNotFound):
			a.record = nil
		case err != nil:
			return a, fmt.Errorf("read its answer: %w", err)
		}
	}
	if run.LogKey != "" {
		if err := j.Blobs.GetJSON(ctx, run.LogKey, &a.log); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return a, fmt.Errorf("read its log: %w", err)
		}
	}
	return a, nil
}

// chunks returns the ids of the chunks of documents that the model was given.
func (a answer) chunks(documents map[string]bool) map[string]bool {
	ids := map[string]bool{}
	if a.record != nil {
		for _, s := range a.record.Sources {
			if documents[s.DocumentID] {
				ids[s.ChunkID] = true
			}
		}
	}
	return ids
}

// texts returns the words of the answer: as it was stored, and as readers saw each try.
func (a answer) texts() (list []string) {
	if a.record != nil {
		list = append(list, a.record.Answer)
	}
	var shown strings.Builder
	end := func() {
		if shown.Len() > 0 && (len(list) == 0 || shown.String() != list[0]) {
			list = append(list, shown.String())
		}
		shown.Reset()
	}
	for _, item := range a.log.Items {
		switch item.Topic {
		case stream.TopicReset:
			end()
		case stream.TopicDelta:
			if e, err := stream.DecodeEvent(item.Data); err == nil {
				shown.WriteString(e.Text)
			}
		}
	}
	end()
	return list
}

// rewrite replaces the blobs of a run: the words of its answer are shortened, and what else
// may repeat the document goes (the calls of models and tools, their files, suggestions).
func (j *job) rewrite(ctx context.Context, a answer, chunks map[string]bool) error {
	run := a.ref()
	items := []blob.Item{}
	add := func(key string, v any) error {
		data, err := json.Marshal(v)
		items = append(items, blob.Item{Key: key, Data: data})
		return err
	}
	kept := map[string]bool{run.RequestKey(): true, run.AnswerKey(): true, run.LogKey(): true}
	_, err := j.Blobs.DeletePrefix(ctx, run.Prefix(), func(key string, _ time.Time) bool { return kept[key] })
	if err != nil {
		return fmt.Errorf("delete its records: %w", err)
	}
	var request knowledge.Request
	changed, err := j.request(ctx, run, &request)
	if err != nil {
		return fmt.Errorf("read its question: %w", err)
	}
	if changed {
		if err := add(run.RequestKey(), request); err != nil {
			return err
		}
	}
	if a.run.LogKey != "" {
		log, err := j.shortenLog(a, chunks)
		if err != nil {
			return fmt.Errorf("shorten its log: %w", err)
		}
		if err := add(a.run.LogKey, log); err != nil {
			return err
		}
	}
	if r := a.record; r != nil {
		r.Answer = j.shorten(r.Answer, chunks)
		r.Suggestions, r.Blocks, r.Searches = nil, nil, nil
		for i := range r.ToolCalls {
			r.ToolCalls[i].Arguments, r.ToolCalls[i].Files = "", nil
		}
		for i, s := range r.Sources {
			if s.Given != nil {
				s.Given.Text, _ = j.phrases.cut(s.Given.Text)
				r.Sources[i] = s
			}
		}
		if err := add(a.run.ResultKey, r); err != nil {
			return err
		}
		items[len(items)-1].After = true
	}
	return j.Blobs.PutAll(ctx, items...)
}

// shortenLog returns the log of a run with the same number of items, so that readers find
// their places. The words of the last try are shortened and stand in its first item; other
// items with words are empty deltas now.
func (j *job) shortenLog(a answer, chunks map[string]bool) (stream.StoredLog, error) {
	last, said := 0, "" // the begin of the last try, and its words
	for i, item := range a.log.Items {
		switch item.Topic {
		case stream.TopicReset:
			last, said = i, ""
		case stream.TopicDelta:
			e, err := stream.DecodeEvent(item.Data)
			if err != nil {
				return stream.StoredLog{}, err
			}
			said += e.Text
		}
	}
	said = j.shorten(said, chunks)
	log := stream.StoredLog{Items: make([]stream.Item, 0, len(a.log.Items))}
	for i, item := range a.log.Items {
		if !plain[item.Topic] {
			e := stream.Event{}
			if item.Topic == stream.TopicDelta && i >= last {
				e.Text, said = said, ""
			}
			entry, err := stream.NewEntry(stream.TopicDelta, e)
			if err != nil {
				return log, err
			}
			item.Topic, item.Data = entry.Topic, entry.Data
		}
		log.Items = append(log.Items, item)
	}
	return log, nil
}

// plain are the topics of items without words of a document: with ids and states only, or
// with the key of the answer.
var plain = map[string]bool{
	stream.TopicStarted: true, stream.TopicReset: true, stream.TopicSources: true, stream.TopicCompleted: true, stream.TopicError: true,
	stream.TopicToolEnd: true, stream.TopicEnded: true, stream.TopicWebhookCall: true, stream.TopicStep: true, stream.TopicModelFailed: true,
}
