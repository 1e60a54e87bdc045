package modeltest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

func (s *Server) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	body, err := protocol.ReadBody(w, r)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	req, err := protocol.ParseEmbeddings(body, localmodel.HashedDimensions)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	key := BatchKey(req.Input)
	var reply Reply
	s.update(func() {
		reply = nextReply(&s.embeddingScript)
		s.totals.Texts += len(req.Input)
		bump(s.batches, key, &s.totals.Embeddings, 1, 0)
	})
	reply.Delay = cmp.Or(reply.Delay, s.options.EmbeddingDelay)
	if s.misbehave(w, r, reply) {
		return
	}
	if reply.Cut {
		panic(http.ErrAbortHandler)
	}
	vectors := s.vectors.EmbedHashed(req.Input, cmp.Or(req.Dimensions, localmodel.HashedDimensions))
	if protocol.WriteEmbeddings(w, req, vectors) != nil || http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
		return
	}
	s.update(func() { bump(s.batches, key, &s.totals.Embeddings, 0, 1) })
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) {
	body, err := protocol.ReadBody(w, r)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	req, err := protocol.ParseChat(body)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	hash := sha256.Sum256(body)
	key := hex.EncodeToString(hash[:])
	var reply Reply
	scripted := false
	s.update(func() {
		scripted = len(s.chatScript) > 0
		reply = nextReply(&s.chatScript)
		bump(s.chats, key, &s.totals.Chats, 1, 0)
		s.requests = append(s.requests, req)
		if len(s.requests) > 2*keptRequests {
			s.requests = append([]protocol.ChatRequest(nil), s.requests[keptRequests:]...)
		}
	})
	if !scripted && s.options.Reply != nil {
		reply = s.options.Reply(req)
	}
	answered := !s.misbehave(w, r, reply) && s.answer(w, r, req, s.plan(req, reply), key)
	s.update(func() {
		if answered {
			bump(s.chats, key, &s.totals.Chats, 0, 1)
		} else if r.Context().Err() != nil {
			s.totals.Left++
		}
	})
}

// plan is an answer in pieces.
type plan struct {
	pieces []string
	calls  []protocol.ToolCall
	finish string
	delay  time.Duration
	cut    bool
	rest   <-chan struct{}
}

// plan returns the answer to req that reply asks for.
func (s *Server) plan(req protocol.ChatRequest, reply Reply) plan {
	p := plan{finish: model.FinishStop, cut: reply.Cut, rest: reply.Rest, delay: cmp.Or(reply.TokenDelay, s.options.TokenDelay)}
	calls := reply.ToolCalls
	if forced := req.ToolChoice.Mode; len(calls) == 0 && (forced == "required" || forced == "function") {
		name := cmp.Or(req.ToolChoice.Name, req.Tools[0].Function.Name)
		last := string(req.Messages[len(req.Messages)-1].Content)
		calls = []model.ToolCall{{ID: "call_1", Name: name, Arguments: cmp.Or(s.options.Tools[name], `{"query":`+protocol.Quote(last)+`}`)}}
	}
	for _, c := range calls {
		call := protocol.ToolCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
		p.calls = append(p.calls, call)
		p.finish = model.FinishToolCalls
	}
	switch {
	case len(reply.Pieces) > 0:
		p.pieces = reply.Pieces
	case reply.Text != "":
		p.pieces = strings.SplitAfter(reply.Text, " ")
	case len(p.calls) == 0:
		p.pieces = tokens(cmp.Or(reply.Tokens, s.options.Tokens), reply.Cut)
	}
	if limit := req.Limit(); limit > 0 && len(p.pieces) > limit {
		p.pieces, p.finish = p.pieces[:limit], model.FinishLength
	}
	return p
}

// tokens returns n words "word1", " word2" and so on, and a citation unless the
// answer is cut.
func tokens(n int, cut bool) []string {
	out := make([]string, 0, n+1)
	for i := range n {
		out = append(out, " word"+strconv.Itoa(i+1))
	}
	out[0] = strings.TrimSpace(out[0])
	if !cut {
		out = append(out, " <source_1>")
	}
	return out
}

// answer writes the answer and reports whether all of it was sent.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req protocol.ChatRequest, p plan, key string) bool {
	c := protocol.Completion{ID: "chatcmpl-" + key[:24], Model: req.Model, Created: time.Now().Unix()}
	usage := protocol.NewUsage(protocol.PromptTokens(req), len(p.pieces))
	if !req.Stream {
		c.Text, c.ToolCalls, c.FinishReason, c.Usage = strings.Join(p.pieces, ""), p.calls, p.finish, usage
		if p.cut || !s.wait(r.Context(), time.Duration(len(p.pieces))*p.delay) {
			panic(http.ErrAbortHandler)
		}
		return protocol.WriteCompletion(w, c) == nil
	}
	stream := protocol.NewStream(w, c)
	began := time.Now()
	for i, piece := range p.pieces {
		if !s.wait(r.Context(), time.Until(began.Add(time.Duration(i+1)*p.delay))) {
			return false
		}
		if i == len(p.pieces)/2 && !s.waitFor(r.Context(), p.rest) {
			return false
		}
		stream.Text(piece)
		if p.delay > 0 || p.cut {
			stream.Flush()
		}
		if stream.Err() != nil {
			return false
		}
		if p.delay > 0 {
			s.update(func() { s.totals.Tokens++ })
		}
	}
	if p.delay == 0 {
		s.update(func() { s.totals.Tokens += len(p.pieces) })
	}
	if p.cut {
		panic(http.ErrAbortHandler) // breaks the connection
	}
	stream.ToolCalls(p.calls)
	stream.Finish(p.finish)
	if req.StreamOptions.IncludeUsage {
		stream.Usage(usage)
	}
	stream.Done()
	return stream.Err() == nil && r.Context().Err() == nil
}
