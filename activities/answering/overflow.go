package answering

import (
	"errors"
	"slices"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// passageShare is the part of a model's context that passages may fill where the project sets no
// limit. The rest is for the prompt, the conversation, results of tools and the answer.
const passageShare = 0.5

// withContextLimit returns the settings of a search with a limit of tokens for models that are known
// to read few.
func (a *searches) withContextLimit(ai knowledge.AIConfig) knowledge.RetrievalConfig {
	name := ai.Model
	if name == "" {
		name = a.Chat.Endpoint().Model
	}
	if size := model.ContextTokens(name); size > 0 && ai.Retrieval.ContextTokens == 0 {
		ai.Retrieval.ContextTokens = int(passageShare * float64(size))
	}
	return ai.Retrieval
}

// isTooLong reports whether the request has more tokens than the model reads, and how many it
// reads, 0 if it does not say.
func isTooLong(err error) (limit int, ok bool) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Code != model.CodeContext {
		return 0, false
	}
	return e.ContextTokens, true
}

// Bounds of what is kept of passages and conversation when a model reads fewer tokens. Estimates
// may be a fifth too low.
const (
	keepAtLeast, keepAtMost = 0.1, 0.75
	keepOfUnknown           = 0.5 // where the model does not say how many it reads
	usableContext           = 0.8
)

// keptShare returns which part of the passages and the conversation of a request fits a model that
// reads limit tokens (0 = it does not say).
func keptShare(chat model.ChatRequest, limit, movable int) float64 {
	if limit == 0 || movable == 0 {
		return keepOfUnknown
	}
	total := 0
	for _, m := range chat.Messages {
		total += knowledge.EstimateTokens(m.Content)
	}
	room := usableContext*float64(limit) - float64(chat.MaxTokens) - float64(total-movable)
	return min(max(room/float64(movable), keepAtLeast), keepAtMost)
}

// tokens estimates the tokens of the passages.
func (f foundWords) tokens() (n int) {
	for _, c := range f.all {
		n += knowledge.EstimateTokens(c.Text)
	}
	return n
}

// shorter returns the passages that have a share of the tokens: the best ones, but at least one.
// The others count as left out.
func (f foundWords) shorter(share float64) foundWords {
	room := int(share * float64(f.tokens()))
	kept := map[int]bool{}
	short := f
	short.all, short.leftOut, short.by = nil, slices.Clone(f.leftOut), map[string][]citation.Context{}
	for _, c := range f.all {
		room -= knowledge.EstimateTokens(c.Text)
		if room < 0 && len(kept) > 0 {
			short.leftOut = append(short.leftOut, c.Rank)
			continue
		}
		kept[c.Rank] = true
		short.all = append(short.all, c)
	}
	for key, own := range f.by {
		short.by[key] = slices.DeleteFunc(slices.Clone(own), func(c citation.Context) bool { return !kept[c.Rank] })
	}
	return short
}

// newest returns the newest messages of a conversation that have a share of its tokens.
func newest(history []knowledge.Message, share float64) []knowledge.Message {
	room := int(share * float64(historyTokens(history)))
	start := len(history)
	for start > 0 {
		if room -= knowledge.EstimateTokens(history[start-1].Content); room < 0 {
			break
		}
		start--
	}
	for start < len(history) && history[start].Role == "assistant" { // without its question
		start++
	}
	return history[start:]
}

func historyTokens(history []knowledge.Message) (n int) {
	for _, m := range history {
		n += knowledge.EstimateTokens(m.Content)
	}
	return n
}
