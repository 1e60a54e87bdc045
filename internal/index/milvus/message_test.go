package milvus_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// messageLimit is the limit that docs/milvus.md names.
const messageLimit = 16 << 20

// TestMessages writes more than a message can hold, through a proxy that refuses larger
// ones as Milvus does.
func TestMessages(t *testing.T) {
	t.Parallel()
	const (
		entries    = 240
		dimensions = 1536
	)
	cfg := config(shared(t))
	p := proxied(t, cfg.Address)
	cfg.Address = p.address
	x := open(t, cfg)
	long := strings.Repeat("lighthouse pier harbour ", 64<<10/24)
	list := make([]index.Entry, entries)
	for i := range list {
		list[i] = passage(fmt.Sprint("document", i))
		list[i].Name, list[i].Text, list[i].Vector = strings.Repeat("n", 8000), long, make([]float32, dimensions)
		list[i].Vector[i] = 1
	}
	if err := x.Upsert(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if largest := p.largest.Load(); largest < messageLimit*3/4 || largest > messageLimit {
		t.Errorf("the largest message has %d bytes, want nearly %d", largest, messageLimit)
	}
	query := index.Query{Principal: member(), Limit: entries + 1}
	if hits, err := x.Dense(t.Context(), query, list[0].Vector); err != nil || len(hits) != entries {
		t.Errorf("%d of %d entries by vector, %v", len(hits), entries, err)
	}
	if hits, err := x.BM25(t.Context(), query, "lighthouse"); err != nil || len(hits) != entries {
		t.Errorf("%d of %d entries by words, %v", len(hits), entries, err)
	}
}

// TestMessagesOfAttributes changes the attributes of a document whose entries are more
// than a message can hold.
func TestMessagesOfAttributes(t *testing.T) {
	t.Parallel()
	const entries = 300
	cfg := config(shared(t))
	p := proxied(t, cfg.Address)
	cfg.Address = p.address
	x := open(t, cfg)
	list := make([]index.Entry, entries)
	for i := range list {
		list[i] = passage("document")
		list[i].ChunkID, list[i].Ordinal, list[i].Name, list[i].Vector = fmt.Sprint("chunk", i), i, "Lights", []float32{1, float32(i)}
		list[i].Text, list[i].CreatedAt = strings.Repeat("lighthouse pier harbour ", 64<<10/24), time.UnixMicro(int64(i)).UTC()
	}
	if err := x.Upsert(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	p.largest.Store(0)
	if err := x.SetAttributes(t.Context(), "acme", "document", 1, index.Attributes{Tags: []string{"new"}, ACL: list[0].ACL}); err != nil {
		t.Fatal(err)
	}
	if largest := p.largest.Load(); largest < messageLimit*3/4 || largest > messageLimit {
		t.Errorf("the largest message has %d bytes, want nearly %d", largest, messageLimit)
	}
	query := index.Query{Principal: member(), Limit: entries + 1, Filter: []knowledge.Condition{
		{Field: knowledge.FieldTags, Type: knowledge.OpEq, Value: "new"},
		{Field: knowledge.FieldName, Type: knowledge.OpEq, Value: "Lights"},
		{Field: knowledge.FieldCreatedAt, Type: knowledge.OpExists, Value: true},
	}}
	want := entries - 1 // the first entry has no time
	if hits, err := x.Dense(t.Context(), query, []float32{1, 0}); err != nil || len(hits) != want {
		t.Errorf("%d of %d entries by vector, %v", len(hits), want, err)
	}
	if hits, err := x.BM25(t.Context(), query, "lighthouse"); err != nil || len(hits) != want {
		t.Errorf("%d of %d entries by words, %v", len(hits), want, err)
	}
}

// proxy is a server that passes requests on to a Milvus server.
type proxy struct {
	address string
	largest atomic.Int64 // bytes of the largest request
	// held is closed at the next listing of collections, which gets no answer.
	held atomic.Pointer[chan struct{}]
	// loading holds back loads of collections until it is closed, if it is set. They go on when
	// their caller has gone.
	loading atomic.Pointer[chan struct{}]
	loads   atomic.Int64 // loads that were asked for
}

// proxied starts a proxy that accepts requests of up to messageLimit.
func proxied(t *testing.T, to string) *proxy {
	t.Helper()
	conn, err := grpc.NewClient(to, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: listener.Addr().String()}
	server := grpc.NewServer(grpc.ForceServerCodec(verbatim{}), grpc.MaxRecvMsgSize(messageLimit), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		return p.forward(stream, conn)
	}))
	t.Cleanup(server.Stop)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	return p
}

// forward passes on one request. Milvus has none that are streams.
func (p *proxy) forward(stream grpc.ServerStream, to *grpc.ClientConn) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var request, answer []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	for size := int64(len(request)); ; {
		if largest := p.largest.Load(); size <= largest || p.largest.CompareAndSwap(largest, size) {
			break
		}
	}
	ctx := stream.Context()
	if strings.HasSuffix(method, "/ShowCollections") {
		if held := p.held.Swap(nil); held != nil {
			close(*held)
			<-ctx.Done()
			return ctx.Err()
		}
	}
	if strings.HasSuffix(method, "/LoadCollection") {
		p.loads.Add(1)
		if loading := p.loading.Load(); loading != nil {
			<-*loading
		}
	}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(context.WithoutCancel(ctx), md)
	}
	if err := to.Invoke(ctx, method, &request, &answer, grpc.ForceCodec(verbatim{}), grpc.MaxCallRecvMsgSize(64<<20), grpc.MaxCallSendMsgSize(64<<20)); err != nil {
		return err
	}
	return stream.SendMsg(&answer)
}

// verbatim is a codec of messages that stay bytes.
type verbatim struct{}

func (verbatim) Name() string                    { return "proto" }
func (verbatim) Marshal(v any) ([]byte, error)   { return *v.(*[]byte), nil }
func (verbatim) Unmarshal(b []byte, v any) error { *v.(*[]byte) = b; return nil }
