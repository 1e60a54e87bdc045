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
	run := in.answeredBy(row)
	answered, err := a.answered(ctx, run)
	if err != nil {
		return judged, err
	}
	used := answered.used
	judged = Judged{State: knowledge.ItemFailed, Usage: used.Usage}
	if snapshot.Settings.Of != "" {
		judged.Usage = knowledge.Usage{} // the answers were counted before
	}
	if answered.Status != knowledge.RunCompleted {
		f := answered.failure(snapshot.Settings.Of != "")
		if judged.Again = in.Try+1 < EvaluatedTries && (f.Code == knowledge.CodeRateLimited || f.Code == knowledge.CodeUnavailable); judged.Again {
			judged.State = knowledge.ItemWaiting
			return judged, nil
		}
		return judged, a.failItem(ctx, in, row, item, f, judged.Usage)
	}
	row.State = knowledge.ItemAnswered
	if err := a.Evaluations.SetItem(ctx, in.Run, row); err != nil {
		return judged, err
	}
	c, err := a.caseOf(ctx, snapshot.Principal, run, item)
	if isMissingBlob(err) { // of a completed run: it was erased
		return judged, a.failItem(ctx, in, row, item, erasedAnswer(), judged.Usage)
	}
	if err != nil {
		return judged, err
	}
	judgement, err := a.judgement(ctx, in, snapshot.Settings, run, c)
	if err != nil {
		return judged, err
	}
	judged.Usage.Add(judgement.Usage)
	judged.State = knowledge.ItemJudged
	tokens := used.PromptTokens + used.CompletionTokens
	row.State = knowledge.ItemJudged
	row.Result, err = json.Marshal(record.ItemResult{
		Outcome:   evaluate.NewOutcome(c, row.Repeat-1, judgement.Judgement, time.Duration(used.Seconds*float64(time.Second)), tokens),
		Judgement: judgement.Judgement, Usage: judged.Usage, Grades: judgement.Grades,
	})
	if err != nil {
		return judged, fmt.Errorf("encode the result of item %s: %w", item.ID, err)
	}
	return judged, a.Evaluations.SetItem(ctx, in.Run, row)
}

// failure returns why a run has no answer. again says that it had one, which was judged.
func (a answeredItem) failure(again bool) knowledge.Failure {
	switch {
	case a.Error != nil:
		return knowledge.Failure{Code: a.Error.Code, Message: a.Error.Message}
	case again && a.ID == "":
		return erasedAnswer()
	}
	return knowledge.Failure{Code: knowledge.CodeInternal, Message: "its answer was ended from outside"}
}

func erasedAnswer() knowledge.Failure {
	return knowledge.Failure{Code: knowledge.CodeGone, Message: "its answer was erased"}
}

// storedJudgement is what a judge said, with what it cost.
type storedJudgement struct {
	evaluate.Judgement
	Usage  knowledge.Usage `json:"usage,omitzero"`
	Grades []int           `json:"grades,omitempty"` // of the score, each time that it was asked for
}

// againItems is how many items of an evaluation are judged several times, where its judge is.
const againItems = 50

// judgement returns what the judge of an evaluation says of a case, and stores it unless it costs
// nothing to say it again.
func (a *Evaluating) judgement(ctx context.Context, in EvaluatedInput, settings record.EvaluationSettings, run knowledge.RunRef, c evaluate.Case) (storedJudgement, error) {
	if settings.Judge.IsOffline() {
		return storedJudgement{Judgement: evaluate.Judge(c)}, nil
	}
	key, prefix := run.JudgementKey(), run.Prefix()
	if settings.Of != "" { // another judge may have judged the same answer
		prefix = in.JudgedPrefix(in.Number)
		key = prefix + "judgement.json"
	}
	return step.Stored(ctx, a.Blobs, key, func() (storedJudgement, error) {
		config, err := a.configOf(ctx, run, settings.Judge)
		if err != nil {
			return storedJudgement{}, err
		}
		j, err := a.judge(ctx, in, prefix, config, settings.Judge, c)
		if err != nil || settings.Judge.Times < 2 || in.Number > againItems {
			return j, err
		}
		j.Grades, err = a.judgeAgain(ctx, prefix, config, settings.Judge, c, &j)
		return j, err
	})
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
	words, chunks, err := a.words(ctx, p.Reader(), answer.Sources)
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
			text := words[s.ChunkID]
			if s.Rows != nil {
				if text, err = answerText(ctx, a.Blobs, *s.Rows, text); err != nil {
					return c, err
				}
			}
			c.Passages = append(c.Passages, judgedPassage(chunk, text))
		}
	}
	return c, nil
}

// words returns the chunks of sources, and what the model has read of each: with its parent or its
// neighbours, and without the sentences that the search left out.
func (a *Evaluating) words(ctx context.Context, p knowledge.Principal, sources []record.Source) (map[string]string, map[string]store.ChunkView, error) {
	var hits []knowledge.Hit
	var read []record.Source
	for _, s := range sources {
		if s.Page == nil && s.Given == nil {
			hits, read = append(hits, knowledge.Hit{ChunkID: s.ChunkID, DocumentID: s.DocumentID, Version: s.Version}), append(read, s)
		}
	}
	if len(hits) == 0 {
		return nil, nil, nil
	}
	chunks, err := retrieve.Lookup(ctx, a.Passages, p, hits)
	if err != nil {
		return nil, nil, err
	}
	contexts := make([]retrieve.Context, 0, len(chunks))
	for i, s := range read {
		if chunk, there := chunks[s.ChunkID]; there {
			contexts = append(contexts, retrieve.Context{ChunkView: chunk, Rank: i + 1, Around: s.Around, Kept: s.Kept, Length: s.Length})
		}
	}
	passages, err := retrieve.Passages(ctx, a.Passages, p, contexts)
	words := make(map[string]string, len(passages))
	for _, c := range passages {
		words[c.ChunkID] = c.Text
	}
	return words, chunks, err
}

// judgedPassage returns a chunk with the text that a model has read of it.
func judgedPassage(chunk store.ChunkView, text string) evaluate.Passage {
	p := record.PassageOf(chunk.Chunk, chunk.Document)
	p.Header, p.Text = "", text // which begins with the header
	return p
}

// judge has a model or a program judge a case.
func (a *Evaluating) judge(ctx context.Context, in EvaluatedInput, prefix string, config knowledge.ProjectConfig, judge record.Judge, c evaluate.Case) (storedJudgement, error) {
	if judge.Webhook != nil {
		j, err := a.askJudge(ctx, in, *judge.Webhook, c)
		return storedJudgement{Judgement: j}, err
	}
	return a.judgeByModel(ctx, prefix, config, c)
}

// judgeByModel asks a model for each part of a judgement. A part whose answer is stored is not
// asked for again.
func (a *Evaluating) judgeByModel(ctx context.Context, prefix string, config knowledge.ProjectConfig, c evaluate.Case) (all storedJudgement, err error) {
	for _, asked := range evaluate.Requests(c) {
		said, err := step.Stored(ctx, a.Blobs, prefix+"judge-"+string(asked.Part)+".json", func() (judgeSaid, error) {
			return a.chats.judgeOnce(ctx, config, asked, 1)
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

// judgeAgain asks a model for the score of a case until it has given it so many times, first
// included, and returns the grades. It counts what that cost to the judgement. Each request has
// another seed, so that no cache of an endpoint answers it.
func (a *Evaluating) judgeAgain(ctx context.Context, prefix string, config knowledge.ProjectConfig, judge record.Judge, c evaluate.Case, first *storedJudgement) (grades []int, err error) {
	if first.Score == nil {
		return nil, nil
	}
	grades = append(grades, evaluate.Grade(*first.Score))
	for _, asked := range evaluate.Requests(c) {
		if asked.Part != evaluate.PartScore {
			continue
		}
		for ask := 2; ask <= judge.Times; ask++ {
			said, err := step.Stored(ctx, a.Blobs, fmt.Sprintf("%sjudge-%s-%d.json", prefix, asked.Part, ask), func() (judgeSaid, error) {
				return a.chats.judgeOnce(ctx, config, asked, ask)
			})
			if e, refused := errors.AsType[*model.Error](err); refused && !e.Retryable && e.Code != model.CodeUnauthorized {
				return grades, nil
			}
			if err != nil {
				return nil, err
			}
			first.Usage.Add(said.Usage)
			var again evaluate.Judgement
			if again.Take(c, asked.Part, said.Text); again.Score != nil {
				grades = append(grades, evaluate.Grade(*again.Score))
			}
		}
	}
	return grades, nil
}

// judgeSaid is the reply of a model that judges, or writes questions.
type judgeSaid struct {
	Text string `json:"text"`
	step.Called
}

// onlyModel returns the settings of a call that the model of that name answers, and no other in its
// place, with the protection of personal data that the project has.
func onlyModel(name string, p knowledge.PrivacyConfig) knowledge.ProjectConfig {
	return knowledge.ProjectConfig{AI: knowledge.AIConfig{Model: name, Failover: []string{name}}, Privacy: p}
}

// configOf returns the settings of calls of a model that judges the answer of a run.
func (a *Evaluating) configOf(ctx context.Context, run knowledge.RunRef, judge record.Judge) (knowledge.ProjectConfig, error) {
	if judge.Webhook != nil {
		return knowledge.ProjectConfig{}, nil
	}
	request, err := record.ReadRequest(ctx, a.Blobs, run)
	if err != nil {
		return knowledge.ProjectConfig{}, err
	}
	return onlyModel(judge.Model, request.Config.Privacy), nil
}

// judgeOnce makes a request of an evaluation to a model, as coldly as it can.
func (a *chats) judgeOnce(ctx context.Context, config knowledge.ProjectConfig, r evaluate.Request, seed int) (judgeSaid, error) {
	cold := 0.0
	text, done, err := a.chatOnce(ctx, config, model.ChatRequest{
		Messages:    []model.Message{{Role: model.RoleSystem, Content: r.System}, {Role: model.RoleUser, Content: r.User}},
		Temperature: &cold, Seed: &seed,
	})
	return judgeSaid{Text: text, Called: step.NewCalled(done)}, err
}
