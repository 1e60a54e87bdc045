package webhook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// AskTimeout bounds the wait for the answer of a webhook of type queries, and for
	// each piece of an answer that it streams.
	AskTimeout = 10 * time.Second
	// maxQueryAnswer bounds an answer, in bytes.
	maxQueryAnswer = 4 << 20
)

// Asked is what came of asking a webhook.
type Asked struct {
	Answer     QueryAnswer
	HTTPStatus int    // 0 = no answer
	Error      string // for people; "" = it answered
}

// Ask asks a webhook about a question. An answer of the type text/event-stream, or of
// another text type, is passed to text as it comes, and is the Answer of the result too.
// The error is the error of text, or the cause of ctx; all other failures are in the result.
func (s *Sender) Ask(ctx context.Context, m Message, text func(string) error) (Asked, error) {
	request, err := newRequest(ctx, m, time.Now())
	if err != nil {
		return Asked{Error: "the webhook is not usable: set its url and its secret again"}, nil
	}
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(AskTimeout, func() { cancel(errSilent) })
	defer watch.Stop()
	request = request.WithContext(waiting)
	request.Header.Set("Accept", "application/json, text/event-stream, text/plain")
	client := *s.client
	client.Timeout = 0
	response, err := client.Do(request)
	if err != nil {
		return s.silent(ctx, waiting, err)
	}
	defer response.Body.Close()
	asked := Asked{HTTPStatus: response.StatusCode}
	if judged := judge(response.StatusCode); judged.Outcome != Taken {
		asked.Error = fmt.Sprintf("the address answered %d", response.StatusCode)
		return asked, nil
	}
	body := &watchedReader{from: io.LimitReader(response.Body, maxQueryAnswer+1), watch: watch}
	if err := asked.read(body, response, text); err != nil {
		if _, ours := errors.AsType[*textError](err); ours {
			return asked, err
		}
		failed, err := s.silent(ctx, waiting, err)
		failed.HTTPStatus = asked.HTTPStatus
		return failed, err
	}
	if asked.Error == "" {
		asked.Error = asked.Answer.fault()
	}
	return asked, nil
}

var errSilent = errors.New("the webhook did not answer in time")

// textError is an error of the function that takes the pieces of an answer.
type textError struct{ error }

// Unwrap returns the error of the function.
func (e *textError) Unwrap() error { return e.error }

// silent returns the result for a request that has no answer, or whose answer broke off.
func (s *Sender) silent(ctx, waiting context.Context, err error) (Asked, error) {
	if ctx.Err() != nil {
		return Asked{}, context.Cause(ctx)
	}
	if errors.Is(context.Cause(waiting), errSilent) {
		return Asked{Error: fmt.Sprintf("the address did not answer within %d seconds", int(AskTimeout.Seconds()))}, nil
	}
	return Asked{Error: failed(err).Error}, nil
}

// watchedReader starts the watch again with each read.
type watchedReader struct {
	from  io.Reader
	watch *time.Timer
	read  int
}

// Read implements io.Reader.
func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.read += n; r.read > maxQueryAnswer {
		return 0, errors.New("the answer is too long")
	}
	r.watch.Reset(AskTimeout)
	return n, err
}

func (a *Asked) read(body *watchedReader, response *http.Response, text func(string) error) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // none: JSON
	switch {
	case response.StatusCode == http.StatusNoContent:
		return nil
	case kind == "text/event-stream":
		return a.readEvents(body, text)
	case strings.HasPrefix(kind, "text/"):
		return a.readText(body, text)
	}
	body.watch.Stop() // the whole of JSON has to come within the time that is left
	deadline := time.AfterFunc(AskTimeout, func() { _ = response.Body.Close() })
	defer deadline.Stop()
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) > 0 && json.Unmarshal(data, &a.Answer) != nil {
		a.Answer, a.Error = QueryAnswer{}, "the answer is not JSON of the form that docs/webhooks.md describes"
	}
	return nil
}

// readText passes a plain text on as it comes, cut between code points.
func (a *Asked) readText(body io.Reader, text func(string) error) error {
	var whole, rest []byte
	buffer := make([]byte, 4096)
	for {
		n, err := body.Read(buffer)
		rest = append(rest, buffer[:n]...)
		cut := len(rest)
		if err == nil {
			cut = wholeRunes(rest)
		}
		piece := strings.ToValidUTF8(string(rest[:cut]), "\uFFFD")
		rest = append([]byte{}, rest[cut:]...)
		if piece != "" {
			whole = append(whole, piece...)
			if err := text(piece); err != nil {
				return &textError{err}
			}
		}
		if errors.Is(err, io.EOF) {
			answer := string(whole)
			a.Answer.Answer = &answer
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// wholeRunes returns the length of b without a code point that is cut off at its end.
func wholeRunes(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return len(b)
			}
			return len(b) - i
		}
	}
	return len(b)
}

// readEvents passes the words of a stream of events on as they come. Events with other
// fields of a QueryAnswer count as such.
func (a *Asked) readEvents(body io.Reader, text func(string) error) error {
	var whole strings.Builder
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxQueryAnswer)
	var data []string
	emit := func() error {
		words, more := eventWords(strings.Join(data, "\n"))
		data = nil
		a.Answer.Merge(more)
		if words == "" {
			return nil
		}
		whole.WriteString(words)
		if err := text(words); err != nil {
			return &textError{err}
		}
		return nil
	}
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimPrefix(value, " "))
		}
		if line == "" && data != nil {
			if err := emit(); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if data != nil {
		if err := emit(); err != nil {
			return err
		}
	}
	if answer := whole.String(); answer != "" {
		a.Answer.Answer = &answer
	}
	return nil
}

// eventWords returns the words of the answer in the data of an event: of OpenAI's chunks
// (choices[0].delta.content), of Cairn's own (chunk.data), of an object with text or
// content, of a string, or of anything that is not JSON. more has the other fields of a
// QueryAnswer.
func eventWords(data string) (words string, more QueryAnswer) {
	var event struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
		Chunk struct {
			Data string `json:"data"`
		} `json:"chunk"`
		Text    string `json:"text"`
		Content string `json:"content"`
	}
	switch trimmed := strings.TrimSpace(data); {
	case trimmed == "[DONE]":
		return "", more
	case strings.HasPrefix(trimmed, `"`) && json.Unmarshal([]byte(trimmed), &words) == nil:
		return words, more
	case !strings.HasPrefix(trimmed, "{") || json.Unmarshal([]byte(trimmed), &event) != nil:
		return data, more
	case json.Unmarshal([]byte(trimmed), &more) != nil:
		more = QueryAnswer{}
	}
	if len(event.Choices) > 0 {
		words = event.Choices[0].Delta.Content
	}
	more.Answer = nil // the whole answer at the end repeats what was streamed
	return words + event.Chunk.Data + event.Text + event.Content, more
}
