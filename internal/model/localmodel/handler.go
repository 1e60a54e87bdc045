package localmodel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// Handler serves the model in the OpenAI protocol: /v1/chat/completions,
// /v1/embeddings and /v1/models. It requires no key.
func (m *Model) Handler() http.Handler {
	return protocol.NewMux(m.serveChat, m.serveEmbeddings, func(w http.ResponseWriter, _ *http.Request) {
		// The client may have disconnected; nobody else needs the error.
		_ = protocol.WriteModels(w, ChatModel, EmbeddingModel)
	})
}

func (m *Model) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	body, err := protocol.ReadBody(w, r)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	req, err := protocol.ParseEmbeddings(body, Dimensions)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	if req.Model != EmbeddingModel {
		protocol.WriteError(w, protocol.UnknownModel(req.Model))
		return
	}
	vectors := m.EmbedTo(req.Input, cmp.Or(req.Dimensions, Dimensions))
	// The client may have disconnected; nobody else needs the error.
	_ = protocol.WriteEmbeddings(w, req, vectors)
}

// reply is an answer in the pieces in which it is streamed.
type reply struct {
	pieces []string
	calls  []protocol.ToolCall
	finish string
	usage  protocol.Usage
}

func (m *Model) serveChat(w http.ResponseWriter, r *http.Request) {
	body, err := protocol.ReadBody(w, r)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	req, err := protocol.ParseChat(body)
	if err == nil {
		err = protocol.RefusePictures(req.Messages)
	}
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	if req.Model != ChatModel {
		protocol.WriteError(w, protocol.UnknownModel(req.Model))
		return
	}
	hash := sha256.Sum256(body)
	id := hex.EncodeToString(hash[:12])
	answer := m.reply(req, id)
	completion := protocol.Completion{ID: "chatcmpl-" + id, Model: ChatModel, Created: time.Now().Unix()}
	if req.Stream {
		m.stream(r.Context(), protocol.NewStream(w, completion), req, answer)
		return
	}
	if !m.pause(r.Context(), time.Now(), len(answer.pieces)) {
		return
	}
	completion.Text = strings.Join(answer.pieces, "")
	completion.ToolCalls, completion.FinishReason, completion.Usage = answer.calls, answer.finish, answer.usage
	// The client may have disconnected; nobody else needs the error.
	_ = protocol.WriteCompletion(w, completion)
}

// reply returns the answer to a request.
func (m *Model) reply(req protocol.ChatRequest, id string) reply {
	prompt := protocol.PromptTokens(req)
	if tool, ok := chooseTool(req); ok {
		call := protocol.ToolCall{ID: "call_" + id, Type: "function"}
		call.Function.Name = tool.Function.Name
		switch last := string(req.Messages[len(req.Messages)-1].Content); call.Function.Name {
		case describeTool:
			call.Function.Arguments = describeDocument(last)
		case rewriteTool:
			call.Function.Arguments = rewriteQuestion(last)
		case filterTool:
			call.Function.Arguments = chooseFilters(last)
		case placeTool:
			call.Function.Arguments = placePassages(last)
		case planTool:
			call.Function.Arguments = planResearch(last)
		case notesTool:
			call.Function.Arguments = m.takeNotes(req.Messages)
		case outlineTool:
			call.Function.Arguments = outlineReport(last)
		default:
			call.Function.Arguments = arguments(tool, readQuestion(req.Messages).search())
		}
		size := protocol.CountTokens(call.Function.Name + call.Function.Arguments)
		return reply{calls: []protocol.ToolCall{call}, finish: "tool_calls", usage: protocol.NewUsage(prompt, size)}
	}
	answer := reply{pieces: pieces(m.answer(req.Messages)), finish: "stop"}
	if limit := req.Limit(); limit > 0 && len(answer.pieces) > limit {
		answer.pieces, answer.finish = answer.pieces[:limit], "length"
	}
	answer.usage = protocol.NewUsage(prompt, len(answer.pieces))
	return answer
}

// stream writes the answer piece by piece, at the model's pace. It stops when
// the client disconnects.
func (m *Model) stream(ctx context.Context, s *protocol.Stream, req protocol.ChatRequest, answer reply) {
	began := time.Now()
	for i, piece := range answer.pieces {
		if !m.pause(ctx, began, i) {
			return
		}
		s.Text(piece)
		if m.interval > 0 {
			s.Flush()
		}
		if s.Err() != nil {
			return
		}
	}
	s.ToolCalls(answer.calls)
	s.Finish(answer.finish)
	if req.StreamOptions.IncludeUsage {
		s.Usage(answer.usage)
	}
	s.Done()
}

// pause waits until the time for n tokens has passed since began, and reports
// whether the client is still connected.
func (m *Model) pause(ctx context.Context, began time.Time, n int) bool {
	wait := time.Until(began.Add(time.Duration(n) * m.interval))
	if m.interval == 0 || wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// pieces splits a text into words, each with the space before it.
func pieces(text string) []string {
	out := make([]string, 0, len(text)/5+1)
	start, inWord := 0, false
	for i := range len(text) {
		space := text[i] == ' ' || text[i] == '\n'
		if space && inWord {
			out = append(out, text[start:i])
			start, inWord = i, false
		}
		inWord = inWord || !space
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
