package sourcetest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
)

// unreliable is a transport to a handler in the same process, some of whose answers are
// errors.
type unreliable struct {
	handler http.Handler
	random  *rand.Rand
	rate    int // requests of a hundred that fail in each way, 0 = none
}

// errBroken is the error of a connection that breaks.
var errBroken = errors.New("the connection broke")

// fault returns what happens to a request: 0 to 3 are faults.
func (u *unreliable) fault() int {
	if u.rate == 0 {
		return 100
	}
	return u.random.IntN(100) / u.rate
}

// RoundTrip implements http.RoundTripper.
func (u *unreliable) RoundTrip(r *http.Request) (*http.Response, error) {
	fault := u.fault()
	switch fault {
	case 0:
		return answerWith(r, http.StatusInternalServerError, nil), nil
	case 1:
		return answerWith(r, http.StatusTooManyRequests, http.Header{"Retry-After": {strconv.Itoa(1 + u.random.IntN(60))}}), nil
	case 2:
		return nil, errBroken
	}
	recorder := httptest.NewRecorder()
	u.handler.ServeHTTP(recorder, r)
	answer := recorder.Result()
	answer.Request = r
	if data := recorder.Body.Bytes(); fault == 3 && len(data) > 0 {
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(data[:u.random.IntN(len(data))]), broken{}))
	}
	return answer, nil
}

func answerWith(r *http.Request, status int, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: http.NoBody, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

// broken is the rest of a body that breaks off.
type broken struct{}

// Read implements io.Reader.
func (broken) Read([]byte) (int, error) { return 0, errBroken }

// Local returns a client whose requests all go to a handler in the same process.
func Local(h http.Handler) *http.Client { return &http.Client{Transport: &unreliable{handler: h}} }
