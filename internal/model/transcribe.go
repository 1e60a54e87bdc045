package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Transcript is what a model hears in a recording.
type Transcript struct {
	Language string   `json:"language,omitempty"` // as the endpoint names it, "english" or "en"; "" = it does not say
	Duration float64  `json:"duration,omitempty"` // of the recording in seconds; 0 = the endpoint does not say
	Segments []Speech `json:"segments"`
}

// Speech is a segment of a recording, in seconds from its beginning.
type Speech struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
}

// Transcribe returns what is said in a recording, which open opens for each endpoint that is
// asked. The endpoint knows the kind of the recording by the extension of name. It holds the whole recording in memory. An
// endpoint that says it cannot decode the recording is an *Error with CodeUnreadable,
// and one that takes no recording of this size is an *Error with CodeTooLarge. Text
// without segments is CodeSegments. A retry helps with none of these.
func (c *Client) Transcribe(ctx context.Context, name string, open func() (io.ReadCloser, error)) (Transcript, error) {
	var last error
	heard, err := First(ctx, Candidates(c.all(), "", nil), c.note(ctx), func(at Candidate[*Client]) (Transcript, error) {
		recording, err := open()
		if err != nil {
			return Transcript{}, fmt.Errorf("open the recording: %w", err)
		}
		defer recording.Close()
		heard, err := at.Client.transcribe(ctx, name, recording)
		if e, ok := errors.AsType[*Error](err); ok && (e.Code == CodeTimeout || !e.Retryable && e.Code != CodeUnauthorized) {
			last = err // another endpoint would not hear more, or not in time
			return Transcript{}, errRefused
		}
		return heard, err
	})
	if last != nil {
		return Transcript{}, last
	}
	return heard, err
}

// transcribe asks the endpoint alone.
func (c *Client) transcribe(ctx context.Context, name string, recording io.Reader) (Transcript, error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	x.complete, x.model = true, c.endpoint.Model
	sent := c.pacer.send()
	res, err := c.api.CreateTranscription(x.ctx, openai.AudioRequest{
		Model: c.endpoint.wireModel(c.endpoint.Model), FilePath: name, Reader: recording, Format: openai.AudioResponseFormatVerboseJSON,
	})
	if x.header != nil {
		c.pacer.observe(sent, time.Now(), x.status, x.header)
	}
	if err != nil {
		return Transcript{}, c.pacer.ended(sent, unreadable(tooLarge(x.callError("transcribe", err))))
	}
	_ = c.pacer.ended(sent, nil) // returns its argument
	t := Transcript{Language: res.Language, Duration: max(res.Duration, 0)}
	for _, s := range res.Segments {
		start := max(s.Start, 0)
		t.Segments = append(t.Segments, Speech{Start: start, End: max(s.End, start), Text: s.Text})
	}
	if len(t.Segments) == 0 && strings.TrimSpace(res.Text) != "" {
		return Transcript{}, x.failure(CodeSegments, false) // a retry would cost as much and fail in the same way
	}
	return t, nil
}

// The words in the texts with which endpoints refuse a recording that they cannot decode.
var (
	mediaWords = regexp.MustCompile(`(?i)audio|video|media|file|wav|ffmpeg`)
	faultWords = regexp.MustCompile(`(?i)decod|corrupt|damaged|invalid|format|support|could not be|failed to (read|load|open|process)`)
)

// unreadable sets the code of an error if the endpoint could not decode the recording.
func unreadable(err error) error {
	e, ok := errors.AsType[*Error](err)
	refused, withText := errors.AsType[*refusal](err)
	if !ok || !withText || e.Code != CodeBadRequest {
		return err
	}
	decodes := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
	aboutRecording := mediaWords.MatchString(refused.text) && faultWords.MatchString(refused.text) && !strings.Contains(refused.text, "response_format")
	if e.Status == http.StatusUnsupportedMediaType || decodes && aboutRecording {
		e.Code = CodeUnreadable
	}
	return err
}
