package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const tokenSecret = "a secret of at least thirty-two bytes"

// tokenOf returns the header with a JWT of a user without roles.
func tokenOf(t *testing.T, user string) []string {
	t.Helper()
	claims := jwt.MapClaims{"sub": user, "workspace": "default", "exp": time.Now().Add(time.Hour).Unix()}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(tokenSecret))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + token}
}

// TestARemovedMemberEndsHisStream removes a member in the middle of an answer. Within two seconds
// his stream has ended and he finds nothing, while another member still does.
func TestARemovedMemberEndsHisStream(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{Tokens: 600, TokenDelay: 50 * time.Millisecond}).URL(), "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	const search = webhooks + "/retrieve-context"
	question := map[string]any{"text": "What is on the northern pier?"}
	if status := s.call(t, "POST", search, question, nil, tokenOf(t, "ann")...); status != http.StatusForbidden {
		t.Fatalf("before she is a member: status %d", status)
	}
	for _, user := range []string{"ann", "bob"} {
		if _, err := s.PutMember(t.Context(), user, client.NewMember{Roles: []string{"reader"}}); err != nil {
			t.Fatal(err)
		}
		await(t, 2*time.Second, user+" is let in", func(context.Context) error {
			if status := s.call(t, "POST", search, question, nil, tokenOf(t, user)...); status != http.StatusOK {
				return fmt.Errorf("status %d", status)
			}
			return nil
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	body := map[string]any{"text": "What is on the northern pier?", "projectId": "default", "sse": true}
	res, err := s.send(ctx, "POST", webhooks+"/query", body, tokenOf(t, "ann")...)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 20)); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %v", res.StatusCode, err)
	}
	if err := s.RemoveMember(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	removed := time.Now()
	rest, err := io.ReadAll(res.Body)
	if took := time.Since(removed); err != nil || took > 2*time.Second || bytes.Contains(rest, []byte("completedMessage")) {
		t.Errorf("the stream ended after %v: %v", took, err)
	}
	endsWithin(t, removed, 2*time.Second, "ann is out", func() error {
		if status := s.call(t, "POST", search, question, nil, tokenOf(t, "ann")...); status != http.StatusForbidden {
			return errors.New("she finds passages")
		}
		return nil
	})
	if status := s.call(t, "POST", search, question, nil, tokenOf(t, "bob")...); status != http.StatusOK {
		t.Errorf("another member: status %d", status)
	}
}
