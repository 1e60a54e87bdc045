package modeltest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// ModelName is the server's model name for chat and embeddings. The server
// accepts every other name as well.
const ModelName = "stand-in"

// keptRequests is the number of chat requests that are kept for Requests.
const keptRequests = 1000

// Options configure the answers of a Server without a script.
type Options struct {
	// Tokens is the number of words of an answer, "word1 word2 … <source_1>".
	// Defaults to 40.
	Tokens int
	// TokenDelay is the time before each token. Defaults to 0.
	TokenDelay time.Duration
	// EmbeddingDelay is the time before each answer with embeddings. Defaults to
	// 0.
	EmbeddingDelay time.Duration
	// Tools are the arguments of calls by the name of the tool, where a request
	// requires it and the script has no reply. Defaults to the last message as query.
	Tools map[string]string
	// Reply answers the chat requests for which the script has no reply. Defaults to the
	// usual answers. It is called concurrently.
	Reply func(protocol.ChatRequest) Reply
}

// Server is a stand-in model server on a loopback port of its own.
type Server struct {
	options  Options
	vectors  *localmodel.Model
	listener net.Listener
	http     *http.Server
	closed   chan struct{}
	once     sync.Once

	mu              sync.Mutex
	changed         chan struct{} // closed and replaced at each change of the counts
	chatScript      []Reply
	embeddingScript []Reply
	recordingScript []Reply
	rerankScript    []Reply
	batches, chats  map[string]Count
	recordings      map[string]Count
	totals          Totals
	requests        []protocol.ChatRequest
	pictures        []Picture
}

// New starts a Server. It panics if it cannot listen on loopback.
func New(options Options) *Server {
	if options.Tokens <= 0 {
		options.Tokens = 40
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("modeltest: listen on loopback: " + err.Error())
	}
	s := &Server{
		options: options, listener: listener, vectors: localmodel.New(localmodel.Config{}),
		closed: make(chan struct{}), changed: make(chan struct{}),
		batches: map[string]Count{}, chats: map[string]Count{}, recordings: map[string]Count{},
	}
	mux := protocol.NewMux(s.serveChat, s.serveEmbeddings, func(w http.ResponseWriter, _ *http.Request) {
		// The client may have disconnected; nobody else needs the error.
		_ = protocol.WriteModels(w, ModelName)
	})
	mux.HandleFunc("POST /v1/audio/transcriptions", s.serveTranscription)
	mux.HandleFunc("POST /v1/rerank", s.serveRerank)
	mux.HandleFunc("POST /v1/images/generations", s.serveImage)
	s.http = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // killed clients are expected
	}
	go func() {
		// Serve returns ErrServerClosed when Close is called.
		_ = s.http.Serve(listener)
	}()
	return s
}

// URL returns the server's base URL, which ends in /v1.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Endpoint returns the server as an endpoint for chat, embeddings and transcriptions.
func (s *Server) Endpoint() model.Endpoint {
	return model.Endpoint{Provider: "modeltest", BaseURL: s.URL(), Model: ModelName, Dimensions: localmodel.HashedDimensions}
}

// Close stops the server and breaks every open connection.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		// The only error is from closing the listener.
		_ = s.http.Close()
	})
}

// ScriptChat appends replies to the script for chat requests, one for each
// request.
func (s *Server) ScriptChat(replies ...Reply) {
	s.update(func() { s.chatScript = append(s.chatScript, replies...) })
}

// ScriptEmbeddings appends replies to the script for embedding requests. Only
// the fields Status, Header, Body, Hang, Until, Garbage, Empty, Cut and Delay
// apply.
func (s *Server) ScriptEmbeddings(replies ...Reply) {
	s.update(func() { s.embeddingScript = append(s.embeddingScript, replies...) })
}

// Requests returns the last chat requests, oldest first.
func (s *Server) Requests() []protocol.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]protocol.ChatRequest(nil), s.requests...)
}

// nextReply removes and returns the next reply of a script.
func nextReply(script *[]Reply) Reply {
	if len(*script) == 0 {
		return Reply{}
	}
	r := (*script)[0]
	*script = (*script)[1:]
	return r
}

// wait waits for d and reports whether client and server are still connected.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

// waitFor waits until a channel is closed, and reports false if the client or the server ends first. It
// does not wait for nil.
func (s *Server) waitFor(ctx context.Context, told <-chan struct{}) bool {
	if told == nil {
		return true
	}
	select {
	case <-told:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

// misbehave does what a reply says in place of an answer, and reports whether
// the reply says so.
func (s *Server) misbehave(w http.ResponseWriter, r *http.Request, reply Reply) bool {
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	if reply.Hang {
		reply.Until = make(chan struct{})
	}
	if !s.waitFor(r.Context(), reply.Until) {
		return true
	}
	switch {
	case !s.wait(r.Context(), reply.Delay):
	case reply.Status != 0 && reply.Body != "":
		w.WriteHeader(reply.Status)
		// The client may have disconnected; the counts do not depend on it.
		_, _ = io.WriteString(w, reply.Body)
	case reply.Status != 0:
		protocol.WriteError(w, &protocol.Error{Status: reply.Status, Message: "scripted failure"})
	case reply.Garbage:
		_, _ = io.WriteString(w, "data: {\"choices\": [}\n\n<html>not an answer</html>\n")
	case reply.Empty:
		w.WriteHeader(http.StatusOK)
	default:
		return false
	}
	return true
}
