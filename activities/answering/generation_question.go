package answering

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// WriteQuestionInput names a question of a plan, 0 = first.
type WriteQuestionInput struct {
	knowledge.RunRef
	Number int `json:"number"`
}

// WrittenQuestion is what became of a question.
type WrittenQuestion struct {
	Dropped string          `json:"dropped,omitempty"` // why it is not kept, "" = it is
	Usage   knowledge.Usage `json:"usage,omitzero"`
}

// WriteQuestion has the model write a planned question, and checks it. It makes no call of the
// model whose reply is stored.
func (a *Generating) WriteQuestion(ctx context.Context, in WriteQuestionInput) (WrittenQuestion, error) {
	defer step.Heartbeat(ctx)()
	q, err := step.Stored(ctx, a.Blobs, in.GeneratedKey(in.Number, ""), func() (record.GeneratedQuestion, error) { return a.writeQuestion(ctx, in) })
	if err != nil {
		return WrittenQuestion{}, a.fail(ctx, in.RunRef, fmt.Errorf("write question %d of run %s: %w", in.Number, in.Run, err))
	}
	return WrittenQuestion{Dropped: string(q.Dropped), Usage: q.Usage}, nil
}

// questionWriter writes and checks a question.
type questionWriter struct {
	*Generating
	in       WriteQuestionInput
	snapshot record.Generation
	planned  record.AskedPassages
	passages []evaluate.Passage
	usage    knowledge.Usage
}

// errModelRefused is the refusal of a request that no repetition changes.
var errModelRefused = errors.New("the model refused the request")

func (a *Generating) writeQuestion(ctx context.Context, in WriteQuestionInput) (q record.GeneratedQuestion, err error) {
	w := questionWriter{Generating: a, in: in}
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &w.snapshot); err != nil {
		return q, err
	}
	var plan []record.AskedPassages
	if err := a.Blobs.GetJSON(ctx, in.GenerationPlanKey(), &plan); err != nil {
		return q, err
	}
	w.planned = plan[in.Number]
	w.passages, err = a.wordsOf(ctx, w.snapshot.Principal, w.planned.Passages)
	if err != nil {
		return q, err
	}
	if len(w.passages) < len(w.planned.Passages) {
		return record.GeneratedQuestion{Dropped: evaluate.DropGone}, nil
	}
	q.Question, q.Dropped, err = w.write(ctx)
	if errors.Is(err, errModelRefused) {
		q.Dropped, err = evaluate.DropRefused, nil
	}
	q.Usage = w.usage
	return q, err
}

// wordsOf returns the passages of hits that the principal may read now.
func (a *Generating) wordsOf(ctx context.Context, p knowledge.Principal, hits []knowledge.Hit) (passages []evaluate.Passage, err error) {
	chunks, err := retrieve.Lookup(ctx, a.Passages, p.Reader(), hits)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if c, there := chunks[h.ChunkID]; there {
			passages = append(passages, record.PassageOf(c.Chunk, c.Document))
		}
	}
	return passages, nil
}

// write has a question written, and returns why it is not kept, "" = it is.
func (w *questionWriter) write(ctx context.Context) (q evaluate.Generated, dropped evaluate.Drop, err error) {
	reply, err := w.ask(ctx, "write", evaluate.GenerationRequest(w.planned.Kind, w.passages, 1))
	if err != nil {
		return q, "", err
	}
	list, err := evaluate.ReadGenerated(w.planned.Kind, w.passages, reply)
	switch {
	case err != nil:
		return q, evaluate.DropUnreadable, nil //nolint:nilerr // the reply is dropped, and counted
	case len(list) == 0:
		return q, evaluate.DropUngrounded, nil
	}
	q = list[0]
	if q.Item.Kind == evaluate.KindUnanswerable {
		dropped, err = w.checkUnanswerable(ctx, q.Item)
	} else {
		dropped, err = w.checkAnswerable(ctx, q.Item)
	}
	return q, dropped, err
}

// checkAnswerable returns why a question that has an answer is not kept.
func (w *questionWriter) checkAnswerable(ctx context.Context, item evaluate.Item) (evaluate.Drop, error) {
	known, err := w.score(ctx, "closed", item, nil)
	if err != nil {
		return "", err
	}
	if !evaluate.NeedsPassage(item, known) {
		return evaluate.DropKnown, nil
	}
	found, _, err := w.search(ctx, item.Question)
	if err != nil {
		return "", err
	}
	for _, id := range item.Passages {
		if !slices.Contains(found, id) {
			return evaluate.DropNotFound, nil
		}
	}
	open, err := w.score(ctx, "open", item, w.passages)
	if err != nil {
		return "", err
	}
	if open.Score == nil || *open.Score < evaluate.ScoreRight {
		return evaluate.DropDisagrees, nil
	}
	if len(w.passages) < 2 {
		return "", nil
	}
	for i, p := range w.passages {
		alone, err := w.score(ctx, fmt.Sprintf("alone-%d", i), item, []evaluate.Passage{p})
		if err != nil {
			return "", err
		}
		if alone.Score != nil && *alone.Score == evaluate.ScoreRight {
			return evaluate.DropOnePassage, nil
		}
	}
	return "", nil
}

// checkUnanswerable drops a question that the passages which a search finds answer.
func (w *questionWriter) checkUnanswerable(ctx context.Context, item evaluate.Item) (evaluate.Drop, error) {
	_, passages, err := w.search(ctx, item.Question)
	if err != nil {
		return "", err
	}
	for _, p := range w.passages { // the one that it was written from is looked at in any case
		if !slices.ContainsFunc(passages, func(x evaluate.Passage) bool { return x.ChunkID == p.ChunkID }) {
			passages = append(passages, p)
		}
	}
	reply, err := w.ask(ctx, "open", evaluate.AnswerRequest(item.Question, passages))
	if err != nil {
		return "", err
	}
	if _, answers := evaluate.ReadAnswer(item.Question, reply); answers {
		return evaluate.DropAnswerable, nil
	}
	return "", nil
}

// score has the model answer a question from passages, or from none, and compares its answer with
// the reference. Without an answer it is wrong.
func (w *questionWriter) score(ctx context.Context, name string, item evaluate.Item, passages []evaluate.Passage) (j evaluate.Judgement, err error) {
	reply, err := w.ask(ctx, name, evaluate.AnswerRequest(item.Question, passages))
	if err != nil {
		return j, err
	}
	wrong, right := evaluate.ScoreWrong, evaluate.ScoreRight
	answer, ok := evaluate.ReadAnswer(item.Question, reply)
	if !ok {
		return evaluate.Judgement{Score: &wrong}, nil
	}
	request, needed := evaluate.ScoreRequest(item, answer)
	if !needed {
		return evaluate.Judgement{Score: &right}, nil
	}
	verdict, err := w.ask(ctx, name+"-score", request)
	if err != nil {
		return j, err
	}
	j.Take(evaluate.Case{Item: item, Answer: answer}, evaluate.PartScore, verdict)
	return j, nil
}

// foundFirst is how many passages a search for a written question returns.
const foundFirst = 10

// search returns the passages that the project's search finds for a question, best first.
func (w *questionWriter) search(ctx context.Context, question string) (ids []string, passages []evaluate.Passage, err error) {
	config := w.snapshot.Retrieval
	config.NumberOfChunks = foundFirst
	found, err := w.Retriever.Retrieve(ctx, retrieve.Request{
		Principal: w.snapshot.Principal.Reader(), Query: question, Projects: []string{w.in.Project}, Config: config,
		Memory: searchMemory{w.Blobs, w.in.GeneratedKey(w.in.Number, "search")},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("search for question %d: %w", w.in.Number, err)
	}
	w.usage.Add(found.Usage)
	for _, c := range found.Contexts {
		if c.Page == nil {
			ids, passages = append(ids, c.ID), append(passages, record.PassageOf(c.Chunk, c.Document))
		}
	}
	return ids, passages, nil
}

// ask asks the model. A reply that is stored is not asked for again.
func (w *questionWriter) ask(ctx context.Context, name string, r evaluate.Request) (string, error) {
	said, err := step.Stored(ctx, w.Blobs, w.in.GeneratedKey(w.in.Number, name), func() (judgeSaid, error) {
		return w.chats.judgeOnce(ctx, onlyModel(w.snapshot.Model, w.snapshot.Privacy), r, 1)
	})
	if e, refused := errors.AsType[*model.Error](err); refused && !e.Retryable && e.Code != model.CodeUnauthorized {
		return "", fmt.Errorf("%w: %w", errModelRefused, err)
	}
	if err != nil {
		return "", err
	}
	w.usage.Add(said.Usage)
	return said.Text, nil
}

func isMissingBlob(err error) bool { return errors.Is(err, blob.ErrNotFound) }
