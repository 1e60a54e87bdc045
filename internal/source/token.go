package source

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// renewBefore is how long before its end a token is taken for expired.
const renewBefore = 5 * time.Minute

// TokenRequest asks for a token by OAuth 2.
type TokenRequest struct {
	Address string
	Form    url.Values
	// Subject and Name are who asks, as for FromStatus.
	Subject, Name string
	// Refused returns the error for credentials that are not accepted, by the body of the answer.
	Refused func(io.Reader) error
}

// Fetch sends the request, three times at most. It returns the token, and when the next one
// is to be asked for.
func (r TokenRequest) Fetch(ctx context.Context, client *http.Client) (token string, ends time.Time, err error) {
	asked := time.Now()
	var granted struct {
		Token   string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	err = ReadJSON(ctx, func() (*http.Response, error) { return r.send(ctx, client) }, r.refused, &granted)
	return granted.Token, asked.Add(time.Duration(granted.Seconds)*time.Second - renewBefore), err
}

func (r TokenRequest) send(ctx context.Context, client *http.Client) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Address, strings.NewReader(r.Form.Encode()))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of the tokens is not valid").WithCause(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := client.Do(request)
	if err != nil {
		return nil, FromExchange(err)
	}
	return answer, nil
}

func (r TokenRequest) refused(answer *http.Response) error {
	if answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusUnauthorized {
		return r.Refused(answer.Body)
	}
	return FromStatus(answer.StatusCode, answer.Header, r.Subject, r.Name)
}
