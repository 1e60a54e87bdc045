package namespace_test

import (
	"log/slog"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/internal/namespace"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c, err := namespace.Dial(t.Context(), namespace.Target{Address: server.Address(), Name: "other"}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	attributes := map[string]enumspb.IndexedValueType{"Colour": enumspb.INDEXED_VALUE_TYPE_KEYWORD}
	if err := namespace.Check(t.Context(), c, "other", attributes); err == nil {
		t.Error("a namespace that does not exist has all that is needed")
	}
	for range 2 {
		if err := namespace.Register(t.Context(), c, "other", attributes); err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "a", TaskQueue: "q", TypedSearchAttributes: temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("Colour").ValueSet("red")),
	}, "Any")
	if err != nil {
		t.Errorf("the namespace cannot be used after Register: %v", err)
	}
	err = namespace.Check(t.Context(), c, "other", map[string]enumspb.IndexedValueType{"Shape": enumspb.INDEXED_VALUE_TYPE_KEYWORD})
	if err == nil || !strings.Contains(err.Error(), "Shape") {
		t.Errorf("a missing search attribute: %v", err)
	}
	err = namespace.Register(t.Context(), c, "other", map[string]enumspb.IndexedValueType{"Colour": enumspb.INDEXED_VALUE_TYPE_INT})
	if err == nil || !strings.Contains(err.Error(), "Colour") {
		t.Errorf("a search attribute of another type: %v", err)
	}
}
