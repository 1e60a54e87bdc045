package namespace_test

import (
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/internal/envelope"
	"github.com/cairn-rag/cairn/internal/envelope/envelopetest"
	"github.com/cairn-rag/cairn/internal/namespace"
)

const words = "the harbour opens at five"

func payloads(t *testing.T, c converter.DataConverter, values ...any) *commonpb.Payloads {
	t.Helper()
	p, err := c.ToPayloads(values...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPayloadsAreEncrypted(t *testing.T) {
	t.Parallel()
	ring := envelopetest.New(t)
	encrypting, off := namespace.Converter(ring), namespace.Converter(&envelope.Ring{})
	for name, c := range map[string]struct {
		written, read converter.DataConverter
		readable      bool
	}{
		"encrypted":                          {encrypting, encrypting, false},
		"without a key":                      {off, off, true},
		"from before encryption":             {off, encrypting, true},
		"from a version without this codec":  {converter.GetDefaultDataConverter(), encrypting, true},
		"without a key, by an older version": {off, converter.GetDefaultDataConverter(), true},
	} {
		p := payloads(t, c.written, words, 7)
		if strings.Contains(p.String(), "harbour") != c.readable {
			t.Errorf("%s: the payloads are %s", name, p)
		}
		var text string
		var number int
		if err := c.read.FromPayloads(p, &text, &number); err != nil || text != words || number != 7 {
			t.Errorf("%s: %q, %d, %v", name, text, number, err)
		}
	}
	var text string
	if err := namespace.Converter(envelopetest.New(t)).FromPayloads(payloads(t, encrypting, words), &text); !errors.Is(err, envelope.ErrOpen) {
		t.Errorf("with another key: %q, %v", text, err)
	}
}

func TestWordsOfFailuresAreEncrypted(t *testing.T) {
	t.Parallel()
	var encrypted, plain client.Options
	namespace.Encrypt(envelopetest.New(t))(&encrypted)
	namespace.Encrypt(&envelope.Ring{})(&plain)
	err := temporal.NewNonRetryableApplicationError(words, "kind", nil, words)
	f := encrypted.FailureConverter.ErrorToFailure(err)
	if strings.Contains(f.String(), "harbour") || f.GetApplicationFailureInfo().GetType() != "kind" {
		t.Errorf("the failure is %s", f)
	}
	if f := plain.FailureConverter.ErrorToFailure(err); f.GetMessage() != words {
		t.Errorf("without a key the failure is %s", f)
	}
	for name, c := range map[string]client.Options{"encrypted": encrypted, "plain": plain} {
		again := encrypted.FailureConverter.FailureToError(c.FailureConverter.ErrorToFailure(err))
		var details string
		application, ok := errors.AsType[*temporal.ApplicationError](again)
		if !ok || application.Message() != words || application.Details(&details) != nil || details != words {
			t.Errorf("%s: %v, %q", name, again, details)
		}
	}
}
