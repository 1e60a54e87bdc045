package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Question is a question to a project.
type Question struct {
	Text           string   `json:"text"`
	Project        string   `json:"projectId,omitempty"`
	ConversationID string   `json:"conversationId,omitempty"`
	Documents      []string `json:"document_ids,omitempty"` // search only these
	Tags           []string `json:"tags,omitempty"`         // search only documents with one of these
	Filters        any      `json:"filters,omitempty"`      // of the seed's form
	User           string   `json:"external_user_id,omitempty"`
	DeepResearch   bool     `json:"deepResearch,omitempty"`          // answer with a report
	Override       any      `json:"projectConfigOverride,omitempty"` // settings of the project for this question alone
	Files          []File   `json:"-"`                               // that come with the question
}

// Answer is a finished answer. Text contains citations as <citation
// id="CHUNK">[n]</citation>, where n is the rank of a source.
type Answer struct {
	MessageID      string          `json:"messageId"`
	ConversationID string          `json:"conversationId"`
	RunID          string          `json:"runId"`
	Text           string          `json:"answer"`
	Sources        []Source        `json:"sources"`
	ToolCalls      json.RawMessage `json:"toolCalls,omitempty"`
	Usage          json.RawMessage `json:"usage,omitempty"`
	Model          string          `json:"model"`
	FinishReason   string          `json:"finishReason,omitempty"` // why the model stopped early: length or content_filter
	Suggestions    []string        `json:"suggestions,omitempty"`  // questions to ask next
	OperatorURL    string          `json:"operatorUrl,omitempty"`
}

// Source is a passage that the model received.
type Source struct {
	Rank           int      `json:"rank"`
	ChunkID        string   `json:"chunkId"`
	DocumentID     string   `json:"documentId"`
	DocumentName   string   `json:"documentName"` // of a page of the web its title
	ExternalID     string   `json:"externalId,omitempty"`
	URL            string   `json:"url,omitempty"` // where the original or the page of the web is
	Text           string   `json:"text"`
	Score          float64  `json:"score"`
	Heading        []string `json:"heading,omitempty"`    // outermost first
	Lines          [2]int   `json:"lines,omitzero"`       // first and last, 1 = first; 0 = a format without lines
	Page           int      `json:"pageNumber,omitempty"` // 0 = a format without pages
	Boxes          Boxes    `json:"bbox,omitempty"`
	StartTime      *float64 `json:"startTime,omitempty"` // in seconds, of audio and video
	EndTime        *float64 `json:"endTime,omitempty"`
	Place          string   `json:"place,omitempty"` // the sheet and range of cells of a spreadsheet
	UsedInResponse bool     `json:"usedInResponse"`
	Removed        bool     `json:"removed,omitempty"` // the passage was removed, or the principal may no longer see it
}

// PageBox is a rectangle on a page, in PDF points from the page's top left.
type PageBox struct {
	Page int           `json:"page_number"`
	Box  knowledge.Box `json:"bbox"`
}

// Boxes are the rectangles of a passage, one per page.
type Boxes []PageBox

// UnmarshalJSON decodes a list of boxes with their pages, or a single box,
// which is on the page of its source.
func (b *Boxes) UnmarshalJSON(data []byte) error {
	var list []PageBox
	if err := json.Unmarshal(data, &list); err == nil {
		*b = list
		return nil
	}
	var one knowledge.Box
	if err := json.Unmarshal(data, &one); err != nil {
		return fmt.Errorf("bbox is neither a box nor a list of boxes: %w", err)
	}
	*b = Boxes{{Box: one}}
	return nil
}

// TextChunk is the data of an apiMessageChunk event.
type TextChunk struct {
	Chunk struct {
		Data string `json:"data"`
	} `json:"chunk"`
}

// Reasoning is the data of a reasoning event. With Reset the reader discards the reasoning so
// far.
type Reasoning struct {
	Delta string `json:"delta"`
	Reset bool   `json:"reset"`
}

// Reset is the data of a messageReset event: the reader discards the text so
// far.
type Reset struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"` // "retry" or "tool_calls"
}

// ModelFailed is the data of a modelFailed event.
type ModelFailed struct {
	Model   string    `json:"model"`
	Code    string    `json:"code"`
	Next    string    `json:"next"`    // the model that is asked now, "" = none
	RetryAt time.Time `json:"retryAt"` // when the model is asked again; zero = at once, or never
}

// Attachment is the data of an attachmentUpdate event.
type Attachment struct {
	DocumentID string           `json:"documentId"`
	Name       string           `json:"name"` // "" = the reader may not see the document
	Status     knowledge.Status `json:"status"`
	Error      *Failure         `json:"error"`
}

// Started is the data of a runStarted event.
type Started struct {
	RunID          string `json:"runId"`
	MessageID      string `json:"messageId"`
	ConversationID string `json:"conversationId"`
	OperatorURL    string `json:"operatorUrl"`
}

// Failure is the data of an error event.
type Failure struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
	// Detail is what the endpoint of a model said; only in the answer for one run, for keys with
	// the scope admin.
	Detail string `json:"detail,omitempty"`
}

// Error returns the code and the message.
func (f Failure) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Message) }

// Ask starts the run of a question and yields its events from the first one,
// like Events. It starts the run only once: repeated requests carry the same
// Idempotency-Key.
func (c *Client) Ask(ctx context.Context, q Question) iter.Seq2[Event, error] {
	body := struct {
		Question
		SSE bool `json:"sse"`
	}{q, true}
	return c.begin(ctx, c.webhook("query"), compact(), body, q.Files...)
}

// CallTool starts the run of a tool that has a route of its own, and yields its
// events like Ask. arguments is not changed.
func (c *Client) CallTool(ctx context.Context, tool string, arguments map[string]any) iter.Seq2[Event, error] {
	body := maps.Clone(arguments)
	body["stream"] = true
	return c.begin(ctx, c.path("/tools", []string{tool}), nil, body)
}

// begin starts a run by a request whose answer is the stream of its events, and
// yields them.
func (c *Client) begin(ctx context.Context, path string, query url.Values, request any, files ...File) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		body, run, err := c.start(ctx, path, query, request, files)
		if err != nil {
			yield(Event{}, fmt.Errorf("ask: %w", err))
			return
		}
		for e, err := range c.follow(ctx, run, 0, body) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// startGrace is how long a request that starts a run continues after its caller has given
// up. The server may have the request already, and only its answer names the run, which
// the caller then can cancel.
const startGrace = 3 * time.Second

// start starts a run, by a form if there are files. It returns its stream of events and
// the run's id.
func (c *Client) start(ctx context.Context, path string, query url.Values, request any, files []File) (io.ReadCloser, string, error) {
	encoded, err := json.Marshal(request)
	if err != nil {
		return nil, "", err
	}
	header := http.Header{
		"Accept":          {"text/event-stream"},
		"Content-Type":    {"application/json"},
		idempotencyHeader: {knowledge.NewID()},
	}
	sending, cancel := lingering(ctx, startGrace)
	var res *http.Response
	err = c.retryRequest(ctx, func() (err error) {
		if len(files) > 0 {
			res, err = c.sendForm(sending, path, query, header.Clone(), encoded, files) //nolint:bodyclose // the caller reads and closes it
			return err
		}
		res, err = c.send(sending, http.MethodPost, path, query, header, bytes.NewReader(encoded)) //nolint:bodyclose // the caller reads and closes it
		return err
	})
	if err != nil {
		cancel()
		return nil, "", err
	}
	body := &streamBody{res.Body, cancel}
	run := res.Header.Get(runHeader)
	if run == "" {
		_ = body.Close() // it was not read
		return nil, "", c.notCairnError(http.MethodPost, path, res.Header.Get("Content-Type"))
	}
	if c.started != nil {
		c.started(run)
	}
	return body, run, nil
}

// lingering returns a context that ends d after ctx does.
func lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return later, func() {
		stop()
		cancel()
	}
}

// streamBody is the body of an answer with the context of its request, which ends with it.
type streamBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (b *streamBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
