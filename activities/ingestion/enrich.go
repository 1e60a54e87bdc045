package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// placedTogether is how many passages one call of the model places in their document.
const placedTogether = 8

// descriptionBlob is the blob of the description of a version.
const descriptionBlob = "description.json"

// EnrichInput names the chunks [First, Last) of a version. The step that begins with
// the first chunk also describes the document.
type EnrichInput struct {
	StepInput
	First int `json:"first"`
	Last  int `json:"last"`
	Count int `json:"count"` // chunks of the version
}

// EnrichStep is how many chunks one EnrichDocument gives a sentence, so that no
// document holds a slot for long.
const EnrichStep = partChunks

// EnrichResult is the result of EnrichDocument.
type EnrichResult struct {
	More bool `json:"more,omitempty"` // the other chunks of the version need a sentence too
}

// Enriching holds the activity that has a model describe documents and passages.
type Enriching struct {
	steps

	Blobs    step.Blobs
	Embedder Embedder
	cuts     *cuts
	chats    *chats
	answers  *answers
}

// EnrichDocument has the chat model describe a document and its passages, as its
// project asks. Each answer is stored under a hash of the model and the request before
// the step continues, so that a retry requests only what is missing. The sentences become
// the Context of the stored chunks.
func (a *Enriching) EnrichDocument(ctx context.Context, in EnrichInput) (EnrichResult, error) {
	defer step.Heartbeat(ctx)()
	var result EnrichResult
	err := a.step(ctx, in.StepInput, knowledge.StageEnrich, func(v store.Version) (err error) {
		result.More, err = a.enrichPart(ctx, v, in)
		return err
	})
	return result, err
}

// enrichPart describes some chunks of a version, and the document with the first ones.
// more is true if the other chunks need a sentence too.
func (a *Enriching) enrichPart(ctx context.Context, v store.Version, in EnrichInput) (more bool, err error) {
	if in.First == 0 {
		if err := noteStage(ctx, a.Versions, in.VersionRef, knowledge.StageEnrich, 0, store.Facts{}); err != nil {
			return false, err
		}
	}
	described, err := a.describe(ctx, v, in.Count)
	if err != nil {
		return false, err
	}
	if v.Enrichment.Context {
		if err := a.placeChunks(ctx, v, in, described.Summary); err != nil {
			return false, err
		}
	}
	if v.Enrichment.Context && in.Last < in.Count {
		return true, nil
	}
	if !v.Enrichment.Summary {
		described.Summary = "" // the sentences alone needed it
	}
	facts := store.Facts{Metadata: described.Metadata(), Tags: described.Tags}
	return false, noteStage(ctx, a.Versions, in.VersionRef, knowledge.StageEmbed, 0, facts)
}

// describe returns what the model says of a document as a whole. It stores the answer.
func (a *Enriching) describe(ctx context.Context, v store.Version, count int) (enrich.Description, error) {
	key := blob.StepKey(v.VersionRef, descriptionBlob)
	var described enrich.Description
	if err := a.Blobs.GetJSON(ctx, key, &described); err == nil || !errors.Is(err, blob.ErrNotFound) {
		return described, err
	}
	want := v.Enrichment.Enrichment
	want.Summary = want.Summary || want.Context // which the sentences need
	var passages []string
	for first := 0; first < count; first += partChunks {
		chunks, err := a.cuts.chunks(ctx, v.VersionRef, first, min(first+partChunks, count), count)
		if err != nil {
			return described, err
		}
		passages = append(passages, texts(chunks)...)
	}
	return answer(ctx, a, v, key, enrich.Describe(v.Name, passages, want), func(arguments string) (enrich.Description, error) {
		return enrich.ReadDescription(arguments, want)
	})
}

// placeChunks writes a sentence for each chunk of a step into the stored chunks.
func (a *Enriching) placeChunks(ctx context.Context, v store.Version, in EnrichInput, about string) error {
	chunks, err := a.cuts.chunks(ctx, v.VersionRef, in.First, in.Last, in.Count)
	if err != nil {
		return err
	}
	for start := 0; start < len(chunks); start += placedTogether {
		if err := a.place(ctx, v, about, chunks[start:min(start+placedTogether, len(chunks))]); err != nil {
			return err
		}
	}
	return a.cuts.replaceChunks(ctx, v.VersionRef, in.First, in.Count, chunks)
}

// place sets the sentences of some chunks.
func (a *Enriching) place(ctx context.Context, v store.Version, about string, chunks []knowledge.Chunk) error {
	c := enrich.Place(v.Name, about, texts(chunks))
	hash := sha256.Sum256([]byte(a.chats.chatModel(v) + "\x00" + c.System + "\x00" + c.User))
	key := blob.StepKey(v.VersionRef, "sentences/"+hex.EncodeToString(hash[:16])+".json")
	var sentences []string
	err := a.Blobs.GetJSON(ctx, key, &sentences)
	if errors.Is(err, blob.ErrNotFound) {
		sentences, err = answer(ctx, a, v, key, c, func(arguments string) ([]string, error) {
			return enrich.ReadSentences(arguments, len(chunks))
		})
	}
	if err != nil {
		return err
	}
	for i := range chunks {
		chunks[i] = chunk.WithContext(chunks[i], sentences[i], a.Embedder.Endpoint().MaxTokens)
	}
	return nil
}

// replaceChunks stores the chunks of a part again.
func (a *cuts) replaceChunks(ctx context.Context, ref knowledge.VersionRef, first, count int, chunks []knowledge.Chunk) error {
	if count > partChunks {
		if _, err := a.Blobs.PutJSON(ctx, partKey(ref, first/partChunks), chunks); err != nil {
			return fmt.Errorf("store chunks from %d: %w", first, err)
		}
		return nil
	}
	var all cut
	key := blob.StepKey(ref, cutBlob)
	if err := a.Blobs.GetJSON(ctx, key, &all); err != nil {
		return fmt.Errorf("read chunks: %w", err)
	}
	all.Chunks = chunks
	if _, err := a.Blobs.PutJSON(ctx, key, all); err != nil {
		return fmt.Errorf("store chunks: %w", err)
	}
	return nil
}

// answer asks the model and stores what read makes of its answer under key.
func answer[T any](ctx context.Context, a *Enriching, v store.Version, key string, c enrich.Call, read func(arguments string) (T, error)) (T, error) {
	arguments, used, err := a.chats.of(v).ask(ctx, v.Enrichment.Model, c)
	if err != nil {
		return *new(T), err
	}
	result, err := read(arguments)
	if err != nil {
		return result, a.chats.unreadable(err)
	}
	return result, a.answers.storeAnswer(ctx, v, key, result, used)
}

// chats asks the chat models of documents.
type chats struct {
	Chat        PacedChat
	Failover    []PacedChat
	Recognisers privacy.Recognisers
	Metrics     Metrics
	Log         *slog.Logger

	privacy knowledge.VersionPrivacy // of the version that is asked about
}

// of returns the chat models as a version asks them.
func (a *chats) of(v store.Version) *chats {
	own := *a
	own.privacy = v.Enrichment.Privacy
	return &own
}

// protected returns a model that gets no personal data, if the version asks for that.
func (a *chats) protected(chat step.Chat) step.Chat {
	if !a.privacy.Providers {
		return chat
	}
	return step.Protected{Model: chat, Recognisers: a.Recognisers, Rules: a.privacy.Rules()}
}

// ask makes a call when it is its turn at the endpoint, at the first model that answers.
// chatModel is the model of the project, "" = the endpoint's.
func (a *chats) ask(ctx context.Context, chatModel string, c enrich.Call) (arguments string, used knowledge.Usage, err error) {
	zero := 0.0
	request := model.ChatRequest{
		Messages: []model.Message{{Role: model.RoleSystem, Content: c.System}, {Role: model.RoleUser, Content: c.User}},
		Tools:    []model.Tool{{Name: c.Tool, Description: c.Description, Parameters: c.Schema}}, ToolChoice: c.Tool, Temperature: &zero,
	}
	// The step is not told whether it was held before, so it counts as if it was.
	turn := model.Turn{Patience: turnPatience, Waited: true}
	said, err := a.say(ctx, chatModel, request, tokens([]string{c.System, c.User}), turn)
	if err != nil {
		return "", used, err
	}
	used = step.NewCalled(said.Done).Usage
	for _, call := range said.Done.ToolCalls {
		if call.Name == c.Tool {
			return call.Arguments, used, nil
		}
	}
	return "", used, a.unreadable(enrich.ErrNoCall)
}

// say makes a call of so many tokens when it is its turn at the endpoint, at the first
// model that answers.
func (a *chats) say(ctx context.Context, chatModel string, request model.ChatRequest, size int, turn model.Turn) (step.Said, error) {
	models := model.Candidates(append([]PacedChat{a.Chat}, a.Failover...), chatModel, nil)
	failed := func(f model.Failed) { step.LogFailed(ctx, a.Log, f) }
	return model.First(ctx, models, failed, func(c model.Candidate[PacedChat]) (said step.Said, err error) {
		if err := c.Client.TakeTurn(ctx, size, turn); err != nil {
			return said, err
		}
		request.Model = c.Name
		start := time.Now()
		var text strings.Builder
		for delta, failed := range a.protected(c.Client).Chat(ctx, request) {
			err = failed
			if delta.Restart {
				text.Reset()
			}
			text.WriteString(delta.Text)
			if delta.Done != nil {
				said.Done = *delta.Done
			}
		}
		said.Text = text.String()
		used := said.Done.Usage
		a.Metrics.ModelCall(c.Client.Endpoint().Provider, "chat", step.Outcome(err), time.Since(start).Seconds(), used.PromptTokens, used.CompletionTokens)
		return said, err
	})
}

// unreadable is the error of an answer that is not what the tool asks for. Another
// answer may be.
func (a *chats) unreadable(cause error) error {
	return &model.Error{Code: model.CodeBadResponse, Provider: a.Chat.Endpoint().Provider, Retryable: true, Cause: cause}
}

func texts(chunks []knowledge.Chunk) []string {
	list := make([]string, 0, len(chunks))
	for _, c := range chunks {
		list = append(list, c.Text)
	}
	return list
}
