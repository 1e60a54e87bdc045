package answering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// EvaluatedTries is how often an item is asked whose model limits requests.
const EvaluatedTries = 3

// Judged is what became of an item of an evaluation.
type Judged struct {
	State knowledge.ItemState `json:"state"`
	Usage knowledge.Usage     `json:"usage,omitzero"`
	Again bool                `json:"again,omitempty"` // the item may be asked again later
}

// JudgeAnswer judges the answer of an item, measures it, and stores the result. It makes no
// call of a judge whose answer is stored.
func (a *Evaluating) JudgeAnswer(ctx context.Context, in EvaluatedInput) (Judged, error) {
	defer step.Heartbeat(ctx)()
	judged, err := a.judgeAnswer(ctx, in)
	if err != nil {
		return judged, a.fail(ctx, in.RunRef, fmt.Errorf("judge item %d of evaluation %s: %w", in.Number, in.Run, err))
	}
	return judged, nil
}

func (a *Evaluating) judgeAnswer(ctx context.Context, in EvaluatedInput) (judged Judged, err error) {
	var snapshot record.Evaluation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return judged, err
	}
	row, item, err := a.item(ctx, in)
	if err != nil {
		return judged, err
	}
	run := in.answer()
	answered, err := a.answered(ctx, in)
	if err != nil {
		return judged, err
	}
	used := answered.used
	judged = Judged{State: knowledge.ItemFailed, Usage: used.Usage}
	if answered.Status != knowledge.RunCompleted {
		f := knowledge.Failure{Code: knowledge.CodeInternal, Message: "its answer was ended from outside"}
		if answered.Error != nil {
			f = knowledge.Failure{Code: answered.Error.Code, Message: answered.Error.Message}
		}
		if judged.Again = in.Try+1 < EvaluatedTries && (f.Code == knowledge.CodeRateLimited || f.Code == knowledge.CodeUnavailable); judged.Again {
			judged.State = knowledge.ItemWaiting
			return judged, nil
		}
		return judged, a.failItem(ctx, in, row, item, f, used.Usage)
	}
	row.State = knowledge.ItemAnswered
	if err := a.Evaluations.SetItem(ctx, in.Run, row); err != nil {
		return judged, err
	}
	c, err := a.caseOf(ctx, snapshot.Principal, run, item)
	if err != nil {
		return judged, err
	}
	judgement, err := step.Stored(ctx, a.Blobs, run.JudgementKey(), func() (storedJudgement, error) {
		return a.judge(ctx, in, snapshot.Settings.Judge, c)
	})
	if err != nil {
		return judged, err
	}
	judged.Usage.Add(judgement.Usage)
	judged.State = knowledge.ItemJudged
	tokens := used.PromptTokens + used.CompletionTokens
	row.State = knowledge.ItemJudged
	row.Result, err = json.Marshal(record.ItemResult{
		Outcome:   evaluate.NewOutcome(c, row.Repeat-1, judgement.Judgement, time.Duration(used.Seconds*float64(time.Second)), tokens),
		Judgement: judgement.Judgement, Usage: judged.Usage,
	})
	if err != nil {
		return judged, fmt.Errorf("encode the result of item %s: %w", item.ID, err)
	}
	return judged, a.Evaluations.SetItem(ctx, in.Run, row)
}

// storedJudgement is what a judge said, with what it cost.
type storedJudgement struct {
	evaluate.Judgement
	Usage knowledge.Usage `json:"usage,omitzero"`
}

// caseOf returns an answer with the passages that its model was given, as far as the principal
// may read them now.
func (a *Evaluating) caseOf(ctx context.Context, p knowledge.Principal, run knowledge.RunRef, item evaluate.Item) (evaluate.Case, error) {
	c := evaluate.Case{Item: item}
	var answer record.Answer
	if err := a.Blobs.GetJSON(ctx, run.AnswerKey(), &answer); err != nil {
		return c, fmt.Errorf("read the answer of run %s: %w", run.Run, err)
	}
	c.Answer = answer.Answer
	hits := make([]knowledge.Hit, 0, len(answer.Sources))
	for _, s := range answer.Sources {
		if s.Page == nil && s.Given == nil {
			hits = append(hits, knowledge.Hit{ChunkID: s.ChunkID, DocumentID: s.DocumentID, Version: s.Version})
		}
	}
	words, chunks, err := a.words(ctx, p.Reader(), hits)
	if err != nil {
		return c, err
	}
	for _, s := range answer.Sources {
		switch chunk, there := chunks[s.ChunkID]; {
		case s.Page != nil:
			c.Passages = append(c.Passages, evaluate.Passage{Document: s.Page.Title, Text: s.Page.Snippet, URL: s.Page.URL})
		case s.Given != nil:
			c.Passages = append(c.Passages, evaluate.Passage{ChunkID: s.ChunkID, DocumentID: s.DocumentID, Document: s.Given.Name, Text: s.Given.Text, URL: s.Given.URL})
		case there:
			c.Passages = append(c.Passages, judgedPassage(chunk, words[s.ChunkID]))
		}
	}
	return c, nil
}

// words returns the chunks of hits, and what a model reads of each.
func (a *Evaluating) words(ctx context.Context, p knowledge.Principal, hits []knowledge.Hit) (map[string]string, map[string]store.ChunkView, error) {
	if len(hits) == 0 {
		return nil, nil, nil
	}
	chunks, err := retrieve.Lookup(ctx, a.Passages, p, hits)
	if err != nil {
		return nil, nil, err
	}
	contexts := make([]retrieve.Context, 0, len(chunks))
	for i, h := range hits {
		if chunk, there := chunks[h.ChunkID]; there {
			contexts = append(contexts, retrieve.Context{ChunkView: chunk, Rank: i + 1})
		}
	}
	read, err := retrieve.Passages(ctx, a.Passages, p, contexts)
	words := make(map[string]string, len(read))
	for _, c := range read {
		words[c.ChunkID] = c.Text
	}
	return words, chunks, err
}

func judgedPassage(chunk store.ChunkView, text string) evaluate.Passage {
	p := evaluate.Passage{
		ChunkID: chunk.ID, DocumentID: chunk.DocumentID, ExternalID: chunk.Document.ExternalID, Document: chunk.Document.Name, Text: text,
	}
	if n := len(chunk.HeadingPath); n > 0 {
		p.Heading = chunk.HeadingPath[n-1]
	}
	for _, line := range chunk.Lines {
		if n := len(p.Pages); line.Page > 0 && (n == 0 || p.Pages[n-1] != line.Page) {
			p.Pages = append(p.Pages, line.Page)
		}
	}
	return p
}

// judge has the judge of an evaluation judge a case.
func (a *Evaluating) judge(ctx context.Context, in EvaluatedInput, judge record.Judge, c evaluate.Case) (storedJudgement, error) {
	switch {
	case judge.Webhook != nil:
		j, err := a.askJudge(ctx, in, *judge.Webhook, c)
		return storedJudgement{Judgement: j}, err
	case judge.Model != "":
		return a.judgeByModel(ctx, in, judge.Model, c)
	}
	return storedJudgement{Judgement: evaluate.Judge(c)}, nil
}

// judgeByModel asks a model for each part of a judgement. A part whose answer is stored is not
// asked for again.
func (a *Evaluating) judgeByModel(ctx context.Context, in EvaluatedInput, name string, c evaluate.Case) (all storedJudgement, err error) {
	run, cold, seed := in.answer(), 0.0, 1
	request, err := record.ReadRequest(ctx, a.Blobs, run)
	if err != nil {
		return all, err
	}
	config := knowledge.ProjectConfig{AI: knowledge.AIConfig{Model: name, Failover: []string{name}}, Privacy: request.Config.Privacy} // no other model judges in its place
	for _, asked := range evaluate.Requests(c) {
		key := run.Prefix() + "judge-" + string(asked.Part) + ".json"
		said, err := step.Stored(ctx, a.Blobs, key, func() (judgeSaid, error) {
			text, done, err := a.chats.chatOnce(ctx, config, model.ChatRequest{
				Messages:    []model.Message{{Role: model.RoleSystem, Content: asked.System}, {Role: model.RoleUser, Content: asked.User}},
				Temperature: &cold, Seed: &seed,
			})
			return judgeSaid{Text: text, Called: step.NewCalled(done)}, err
		})
		if e, refused := errors.AsType[*model.Error](err); refused && !e.Retryable && e.Code != model.CodeUnauthorized {
			all.Fail(asked.Part, e.Public().Message)
			continue
		}
		if err != nil {
			return all, err
		}
		all.Usage.Add(said.Usage)
		all.Take(c, asked.Part, said.Text)
	}
	return all, nil
}

// judgeSaid is the reply of a model that judges.
type judgeSaid struct {
	Text string `json:"text"`
	step.Called
}
