package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// Timeout bounds an exchange with a webhook, its answer included.
	Timeout = 20 * time.Second
	// maxAnswer bounds how much of an answer is read, in bytes.
	maxAnswer = 64 << 10
)

// headerAPIKey is written as the receivers of other platforms expect it.
const headerAPIKey = "knowledge-project-apiKey"

// Message is one request to a webhook.
type Message struct {
	ID     string // of the event: the same at each attempt
	URL    string
	Secret string            // "" = the request is not signed
	APIKey string            // "" = none
	Header map[string]string // more headers
	Body   []byte
}

// Outcome says what the answer to a request means for its delivery.
type Outcome int

// The outcomes of a request.
const (
	Retry   Outcome = iota // it failed, and a later attempt may not
	Taken                  // the webhook has the event
	Refused                // it will never take it
	Gone                   // it wants no event any more
)

// Result is what became of a request.
type Result struct {
	Outcome    Outcome
	HTTPStatus int           // 0 = no answer
	Error      string        // for people; "" = taken
	RetryAfter time.Duration // that the webhook asks for; 0 = it does not
	Answer     *knowledge.WebhookAnswer
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	client *http.Client
}

// NewSender returns a Sender over a client that dials safely. It follows no
// redirect.
func NewSender(client *http.Client) *Sender {
	own := *client
	own.Timeout = Timeout
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{&own}
}

// Send sends a message and reads the answer. It reads no more of an answer than it
// needs. If ctx ends, the result is Retry.
func (s *Sender) Send(ctx context.Context, m Message) Result {
	body, result := s.Exchange(ctx, m)
	result.Answer = parseAnswer(body)
	return result
}

// Exchange sends a message as Send does, and returns the body of the answer. It is nil if the
// answer is longer than 64 KiB or breaks off: the status decides all the same.
func (s *Sender) Exchange(ctx context.Context, m Message) ([]byte, Result) {
	body, result, err := exchange(ctx, s.client, m, maxAnswer)
	if err != nil || len(body) > maxAnswer {
		return nil, result
	}
	return body, result
}

// Call sends a message and returns the body of the answer, of at most most bytes. ctx alone
// bounds its time.
func (s *Sender) Call(ctx context.Context, m Message, most int64) ([]byte, Result) {
	client := *s.client
	client.Timeout = 0
	body, result, err := exchange(ctx, &client, m, most)
	switch {
	case err != nil:
		return nil, failed(err)
	case int64(len(body)) > most:
		result.Outcome, result.Error = Refused, fmt.Sprintf("the answer has more than %d bytes", most)
	}
	return body, result
}

// exchange sends a message, and returns at most one byte more than most of the answer's body.
// The error is that of a body that breaks off.
func exchange(ctx context.Context, client *http.Client, m Message, most int64) ([]byte, Result, error) {
	request, err := newRequest(ctx, m, time.Now())
	if err != nil {
		return nil, Result{Outcome: Refused, Error: "the webhook is not usable: set its url and its secret again"}, nil
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, failed(err), nil
	}
	defer response.Body.Close()
	result := judge(response.StatusCode)
	result.RetryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	return body, result, err
}

func newRequest(ctx context.Context, m Message, now time.Time) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	h := request.Header
	for name, value := range m.Header {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "cairn")
	h.Set(standardwebhooks.HeaderWebhookID, m.ID)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	if m.Secret != "" {
		signature, err := sign(m, now)
		if err != nil {
			return nil, err
		}
		h.Set(standardwebhooks.HeaderWebhookSignature, signature)
	}
	if m.APIKey != "" {
		h[headerAPIKey] = []string{m.APIKey}
	}
	return request, nil
}

func sign(m Message, now time.Time) (string, error) {
	signer, err := standardwebhooks.NewWebhook(m.Secret)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	signature, err := signer.Sign(m.ID, now, m.Body)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return signature, nil
}

// judge returns the result for a status.
func judge(status int) Result {
	r := Result{HTTPStatus: status, Error: fmt.Sprintf("the address answered %d", status)}
	switch {
	case status >= 200 && status < 300:
		r.Outcome, r.Error = Taken, ""
	case status == http.StatusGone:
		r.Outcome, r.Error = Gone, "the address answered 410: it wants no more events"
	case status >= 300 && status < 400:
		r.Error += "; redirects are not followed: set the final address"
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
	case status >= 400 && status < 500:
		r.Outcome = Refused
	}
	return r
}

// failed returns the result for a request without an answer. Its error names no
// address, and no text of the receiver.
func failed(err error) Result {
	if refused, ok := errors.AsType[*knowledge.Error](err); ok {
		return Result{Outcome: Refused, Error: refused.Message}
	}
	message := "the address could not be reached"
	var timeout interface{ Timeout() bool }
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		message = "the name of the address is not known"
	case errors.As(err, &certificate):
		message = "the certificate of the address is not valid"
	case errors.As(err, &timeout) && timeout.Timeout():
		message = fmt.Sprintf("the address did not answer within %d seconds", int(Timeout.Seconds()))
	}
	return Result{Error: message}
}

// retryAfter reads a Retry-After header: seconds or a date. It returns 0 for none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(0, min(seconds, int(GiveUpAfter.Seconds())))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(at.Sub(now), GiveUpAfter))
	}
	return 0
}
