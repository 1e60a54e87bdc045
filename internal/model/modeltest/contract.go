package modeltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// Clients are two clients of one server: one for its chat model, one for its
// embedding model.
type Clients struct{ Chat, Embedding *model.Client }

// RunContract checks the behaviour of an endpoint that is called through a
// model.Client. Each subtest calls open for its own clients.
func RunContract(t *testing.T, open func(t *testing.T) Clients) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, Clients){
		"chat streams text and ends with the completion":       chatStreams,
		"the same request gets the same answer":                chatRepeats,
		"a longer conversation counts more tokens":             chatCounts,
		"max tokens cuts the answer and says so":               chatCuts,
		"a required tool is called with its arguments as JSON": chatRequires,
		"a named tool is the one that is called":               chatNames,
		"with tool choice none no tool is called":              chatRefrains,
		"after the result of a tool there is an answer":        chatConcludes,
		"leaving the stream early is not an error":             chatLeaves,
		"a cancelled call ends with the caller's error":        chatCancels,
		"a request that makes no sense is refused for good":    chatRefuses,
		"embeddings come in the order and number of the texts": embedOrders,
		"the same text has the same vector in every batch":     embedRepeats,
		"vectors are finite, of one length and not zero":       embedMeasures,
		"similar texts are nearer than other texts":            embedCompares,
		"no texts have no vectors":                             embedNothing,
		"the list of models contains the chat model":           modelsList,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

// Collect returns a whole answer.
func Collect(ctx context.Context, c *model.Client, req model.ChatRequest) (string, model.Completion, error) {
	var text strings.Builder
	for delta, err := range c.Chat(ctx, req) {
		if err != nil {
			return text.String(), model.Completion{}, err
		}
		text.WriteString(delta.Text)
		if delta.Done != nil {
			return text.String(), *delta.Done, nil
		}
	}
	return text.String(), model.Completion{}, errors.New("the sequence ended without a completion")
}

func modelsList(t *testing.T, c Clients) {
	names, err := c.Chat.Models(t.Context())
	if err != nil || !strings.Contains(strings.Join(names, "\n"), c.Chat.Endpoint().Model) {
		t.Errorf("models %v, %v", names, err)
	}
}
