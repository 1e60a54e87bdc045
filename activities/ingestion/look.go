package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

// picture is one picture to look at.
type picture struct {
	key  string                                    // of the blob of what was seen
	draw func(ctx context.Context) ([]byte, error) // as PNG or JPEG
}

// seen is what a model wrote about a picture.
type seen struct {
	Hash    string `json:"hash"` // of the model, the prompt and the picture
	Text    string `json:"text,omitempty"`
	Refused bool   `json:"refused,omitempty"` // there is no text
}

// look is one step of looking at the pictures of a version.
type look struct {
	a      *ReadingPictures
	v      store.Version
	prompt string
	read   func(answer string) string
	once   singleflight.Group // by hash
	now    atomic.Bool        // the next request ends the pause that the provider asked for

	mu      sync.Mutex
	known   map[string]string // texts by hash, of this version and of others
	refused map[string]seen   // by key
}

// newLook returns a step that knows what was seen before in the versions of the
// document.
func (a *ReadingPictures) newLook(ctx context.Context, v store.Version, in ReadPicturesInput) (*look, error) {
	l := &look{a: a, v: v, known: map[string]string{}, refused: map[string]seen{}}
	l.now.Store(in.Now)
	folder := ""
	l.prompt, l.read, folder = in.Kind.task()
	prefix := blob.DocumentPrefix(v.Workspace, v.Project, v.Document)
	if v.Version == 1 { // most documents have no other version
		prefix = blob.VersionPrefix(v.VersionRef)
	}
	for object, err := range a.Blobs.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list what was seen in document %s: %w", v.Document, err)
		}
		if !strings.Contains(object.Key, "/"+folder) {
			continue
		}
		var s seen
		err := a.Blobs.GetJSON(ctx, object.Key, &s)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, fmt.Errorf("read what was seen: %w", err)
		}
		if err == nil && !s.Refused {
			l.known[s.Hash] = s.Text
		}
	}
	return l, nil
}

// all looks at pictures. After a failure it starts no other, and those that are with
// the model are stored all the same.
func (l *look) all(ctx context.Context, pictures []picture) error {
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(picturesInFlight)
	for _, p := range pictures {
		group.Go(func() error {
			if failed.Err() != nil {
				return failed.Err()
			}
			return l.one(ctx, p)
		})
	}
	if err := group.Wait(); err != nil || l.blind() {
		return err
	}
	for key, s := range l.refused { // the model sees others: it will refuse these again
		if _, err := l.a.Blobs.PutJSON(ctx, key, s); err != nil {
			return fmt.Errorf("note a picture that was refused: %w", err)
		}
	}
	return nil
}

// blind reports whether the model answers no picture.
func (l *look) blind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known) == 0 && len(l.refused) > 0
}

// givenUp reports whether the model has refused so many pictures that no other is sent.
func (l *look) givenUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known) == 0 && len(l.refused) >= blindAfter
}

// one looks at a picture, unless what was seen in it is stored.
func (l *look) one(ctx context.Context, p picture) error {
	if there, err := l.a.Blobs.Exists(ctx, p.key); there || err != nil || l.givenUp() {
		return err
	}
	data, err := p.draw(ctx)
	if e, ok := errors.AsType[*knowledge.Error](err); ok && !e.Retryable && e.Code != knowledge.CodeInternal {
		return l.a.answers.storeAnswer(ctx, l.v, p.key, seen{Refused: true}, knowledge.Usage{}) // the picture is damaged
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(l.a.chats.chatModel(l.v) + "\x00" + l.prompt + "\x00" + string(data)))
	hash := hex.EncodeToString(sum[:16])
	var used knowledge.Usage // by this picture, not by an equal one beside it
	text, err, _ := l.once.Do(hash, func() (any, error) { return l.text(ctx, hash, data, &used) })
	if step.IsRefusal(err) {
		l.mu.Lock()
		l.refused[p.key] = seen{Hash: hash, Refused: true}
		l.mu.Unlock()
		return nil
	}
	if err != nil {
		return err
	}
	return l.a.answers.storeAnswer(ctx, l.v, p.key, seen{Hash: hash, Text: text.(string)}, used)
}

// text returns what the model writes about a picture, and sets what it has used for that.
func (l *look) text(ctx context.Context, hash string, data []byte, used *knowledge.Usage) (string, error) {
	l.mu.Lock()
	text, known := l.known[hash]
	l.mu.Unlock()
	if known {
		return text, nil
	}
	said, err := l.see(ctx, data)
	if err != nil {
		return "", err
	}
	text, *used = l.read(said.Text), step.NewCalled(said.Done).Usage
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[hash] = text
	return text, nil
}

// see sends a picture to the model when it is its turn.
func (l *look) see(ctx context.Context, data []byte) (step.Said, error) {
	// The step is not told whether it was held before, so it counts as if it was.
	turn := model.Turn{Patience: turnPatience, Waited: true, Now: l.now.Swap(false)}
	zero := 0.0
	return l.a.chats.of(l.v).say(ctx, l.v.Enrichment.Model, model.ChatRequest{Temperature: &zero, Messages: []model.Message{
		{Role: model.RoleSystem, Content: l.prompt},
		{Role: model.RoleUser, Pictures: []model.Picture{{MediaType: http.DetectContentType(data), Data: data}}},
	}}, pictureTokens, turn)
}
