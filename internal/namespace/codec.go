package namespace

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
)

// The encoding of an encrypted payload, and the context for which it is sealed.
const (
	encodingEncrypted = "binary/encrypted"
	payloadContext    = "temporal payload"
)

// Sealer encrypts values for a context.
type Sealer interface {
	// On reports whether values are encrypted.
	On() bool
	// Seal encrypts a value.
	Seal(plain []byte, context string) ([]byte, error)
	// Unseal returns the value that Seal encrypted. Others it returns as they are.
	Unseal(ctx context.Context, data []byte, context string) ([]byte, error)
}

// Codec encrypts the payloads of workflows, and reads encrypted and plain ones. It implements
// converter.PayloadCodec.
type Codec struct{ sealer Sealer }

// NewCodec returns a Codec.
func NewCodec(s Sealer) Codec { return Codec{s} }

// Encode implements converter.PayloadCodec.
func (c Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if !c.sealer.On() {
		return payloads, nil
	}
	encoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt a payload: %w", err)
		}
		sealed, err := c.sealer.Seal(plain, payloadContext)
		if err != nil {
			return nil, fmt.Errorf("encrypt a payload: %w", err)
		}
		encoded[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingEncrypted)}, Data: sealed}
	}
	return encoded, nil
}

// Decode implements converter.PayloadCodec.
func (c Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	decoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != encodingEncrypted {
			decoded[i] = p
			continue
		}
		plain, err := c.sealer.Unseal(context.Background(), p.GetData(), payloadContext) // the SDK gives a codec no context
		if err != nil {
			return nil, fmt.Errorf("decrypt a payload: %w", err)
		}
		decoded[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, decoded[i]); err != nil {
			return nil, fmt.Errorf("decrypt a payload: %w", err)
		}
	}
	return decoded, nil
}

// Converter returns the converter of clients and workers whose payloads a sealer encrypts.
func Converter(s Sealer) converter.DataConverter {
	// The SDK's converter that pauses its detector of deadlocks is not around this one: it locks
	// the dispatcher of a workflow anew for each payload, and workflows with several coroutines
	// came to a stop there. A data key that is not known yet is read from the database in
	// milliseconds.
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), NewCodec(s))
}

// Encrypt has a client encrypt the payloads and the words of failures.
func Encrypt(s Sealer) func(*client.Options) {
	return func(o *client.Options) {
		o.DataConverter = Converter(s)
		o.FailureConverter = failures{
			encrypting: temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: o.DataConverter, EncodeCommonAttributes: true}),
			plain:      temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: o.DataConverter}),
			sealer:     s,
		}
	}
}

// failures encrypts the words of failures while payloads are encrypted, and reads both.
type failures struct {
	encrypting, plain converter.FailureConverter
	sealer            Sealer
}

// ErrorToFailure implements converter.FailureConverter.
func (f failures) ErrorToFailure(err error) *failurepb.Failure {
	if f.sealer.On() {
		return f.encrypting.ErrorToFailure(err)
	}
	return f.plain.ErrorToFailure(err)
}

// FailureToError implements converter.FailureConverter.
func (f failures) FailureToError(failure *failurepb.Failure) error {
	return f.encrypting.FailureToError(failure)
}
