package retrieve

import (
	"context"
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/privacy"
)

// InProcessEmbedder is an Embedder that may run in the process, so that the texts do not leave
// it. It is optional.
type InProcessEmbedder interface {
	InProcess() bool
}

// shield returns what keeps the personal data of texts from a model, nil if the project of the
// search does not ask for that. Its error is that of a recogniser that cannot answer.
func (s *search) shield(ctx context.Context, texts ...string) (*privacy.Shield, error) {
	if !s.request.Privacy.RedactsForProviders() {
		return nil, nil
	}
	finder, err := s.models.Recognisers.Finder(ctx, s.request.Privacy.Rules(), func(f *privacy.Finder) {
		asking := f.NewShield()
		for _, text := range texts {
			asking.RedactJSON(text) // as JSON and as text
			asking.Redact(text)
		}
	})
	if err != nil {
		return nil, err
	}
	return finder.NewShield(texts...), nil
}

// masked returns texts as an embedder gets them.
func (s *search) masked(ctx context.Context, e Embedder, texts []string) ([]string, error) {
	if here, ok := e.(InProcessEmbedder); !s.request.Privacy.RedactsForProviders() || ok && here.InProcess() {
		return texts, nil
	}
	return s.models.Recognisers.Mask(ctx, s.request.Privacy.Rules(), texts)
}

// texts returns the texts of a call.
func (c Call) texts() []string { return []string{c.System, c.User, c.Description, string(c.Schema)} }

// through returns a call with placeholders in the place of personal data, if there is a shield.
func (c Call) through(shield *privacy.Shield) Call {
	if shield == nil {
		return c
	}
	c.System, c.User, c.Description = shield.Redact(c.System), shield.Redact(c.User), shield.Redact(c.Description)
	c.Schema = json.RawMessage(shield.RedactJSON(string(c.Schema)))
	return c
}
