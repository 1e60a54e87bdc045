package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"
)

// Forwarded is the answer of an endpoint to a request that was forwarded to it as it was
// written. The caller calls Close. Only one goroutine may use it.
type Forwarded struct {
	x        *exchange
	body     io.ReadCloser
	lines    *bufio.Reader
	whole    []byte // an answer that is not a stream
	first    []byte // the first event of a stream
	finished bool   // an event had a finish reason
}

// Priced returns what the answer used with its cost, if the price of the model is known.
func (f *Forwarded) Priced(used Usage) Usage { return f.x.endpoint.Prices.of(f.x.endpoint.Model, used) }

// ForwardChat sends the JSON of a request for a chat completion to the endpoint as it is
// and returns once its answer begins: with the first event if the request asks for a
// stream, which streamed says, and else with the whole answer. It returns the errors
// of Chat.
func (c *Client) ForwardChat(ctx context.Context, body []byte, streamed bool) (*Forwarded, error) {
	if name := c.endpoint.wireModel(c.endpoint.Model); name != c.endpoint.Model {
		var err error
		if body, err = withModel(body, name); err != nil {
			return nil, err
		}
	}
	x := newExchange(ctx, c.endpoint)
	if streamed {
		x.limit = maxStreamBytes
	}
	sent := c.pacer.send()
	res, err := c.post(x, chatPath, body) //nolint:bodyclose // Forwarded.Close closes it
	if x.header != nil {
		c.pacer.observe(sent, time.Now(), x.status, x.header)
	}
	if err != nil {
		defer x.close()
		return nil, c.pacer.ended(sent, tooLarge(x.callError("chat", err)))
	}
	_ = c.pacer.ended(sent, nil) // returns its argument
	f := &Forwarded{x: x, body: res.Body, lines: bufio.NewReaderSize(res.Body, 16<<10)}
	if err := f.begin(streamed); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// withModel returns a request with the name of another model.
func withModel(body []byte, name string) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	encoded, err := json.Marshal(name)
	if err != nil {
		return nil, fmt.Errorf("encode the model's name: %w", err)
	}
	fields["model"] = encoded
	return json.Marshal(fields)
}

// post sends JSON to a path of the endpoint.
func (c *Client) post(x *exchange, path string, body []byte) (*http.Response, error) {
	return c.postTo(x, c.endpoint.address(path), body)
}

// postTo sends JSON to an address of the endpoint.
func (c *Client) postTo(x *exchange, address string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(x.ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	c.endpoint.authorize(req)
	return doer{c.client}.Do(req)
}

// begin reads the first event of a stream, or a whole answer.
func (f *Forwarded) begin(streamed bool) error {
	if streamed {
		event, err := f.next()
		f.first = bytes.Clone(event) // the next one overwrites it
		return err
	}
	body, err := io.ReadAll(f.body)
	if err != nil {
		return f.x.callError("chat", err)
	}
	var answer struct {
		Choices []json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Choices) == 0 {
		return f.x.callError("chat", f.x.badAnswer(CodeBadResponse, "the answer has no choices"))
	}
	f.whole = body
	return nil
}

// Close closes the connection, unless its answer was read to the end.
func (f *Forwarded) Close() {
	_ = f.body.Close() // it was only read
	f.x.close()
}

// Whole returns an answer that is not a stream: JSON with choices.
func (f *Forwarded) Whole() []byte { return f.whole }

// Events yields the data of the events of a stream as they come, the done mark left out.
// An event that reports an error, and a stream that stops before the answer is complete,
// end the sequence with an *Error. A yielded slice is valid until the next one.
func (f *Forwarded) Events() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for event := f.first; event != nil; {
			if !yield(event, nil) {
				return
			}
			var err error
			if event, err = f.next(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// next returns the data of the next event, nil behind the last one.
func (f *Forwarded) next() ([]byte, error) {
	for {
		line, err := f.lines.ReadBytes('\n')
		data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case isData && string(data) == doneMark:
			f.x.complete = true
			return nil, nil
		case isData && len(data) > 0:
			last, err := f.read(data)
			f.finished = f.finished || last
			return data, err
		case err != nil && errors.Is(err, io.EOF) && f.finished:
			return nil, nil
		case err != nil:
			return nil, f.x.callError("chat", f.broken(err))
		}
	}
}

// read looks at an event: whether it finishes the answer, or reports an error.
func (f *Forwarded) read(data []byte) (finished bool, err error) {
	var event chatEvent
	if err := json.Unmarshal(data, &event); err != nil {
		return false, f.x.callError("chat", f.x.badAnswer(CodeBadResponse, "an event that is not JSON"))
	}
	if reported, failed := event.failure(""); failed {
		return false, f.x.callError("chat", f.x.reported(reported))
	}
	for _, choice := range event.Choices {
		finished = finished || choice.FinishReason != ""
	}
	return finished, nil
}

// broken returns the error of a stream that stopped with err before its answer was
// complete.
func (f *Forwarded) broken(err error) error {
	if errors.Is(err, io.EOF) {
		return f.x.badAnswer(CodeEnded, "the answer ended in mid stream, without a finish reason")
	}
	return err
}

// Refused reports whether an endpoint refused a request as the caller's mistake, with the
// names of the mistake and of the field where it gave them.
func Refused(err error) (code, param string, ok bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusBadRequest && e.Status != http.StatusRequestEntityTooLarge && e.Status != http.StatusUnprocessableEntity {
		return "", "", false
	}
	if refused, isRefusal := errors.AsType[*refusal](err); isRefusal {
		name := func(s string) string {
			if errorName.MatchString(s) {
				return s
			}
			return ""
		}
		code, param = name(refused.report.Code), name(refused.report.Param)
	}
	return code, param, true
}
