package milvus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	grpcretry "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"github.com/milvus-io/milvus/client/v2/milvusclient"
	"google.golang.org/grpc"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// openTimeout is how long Open waits for the server and its check.
	openTimeout = time.Minute
	// loadPatience is how long calls wait for a collection that the server loads. Behind it the
	// process starts all the same, and searches say that the collection is loading.
	loadPatience = 20 * time.Second
	// quietTime is how long Open waits before it says so.
	quietTime = 3 * time.Second
	// attempts bounds the attempts of the client in one call to a server that is gone.
	// Its own default takes 20 s; the callers repeat what fails.
	attempts = 2
)

// Index is an index.Index in Milvus. Several processes may use the same
// collections.
type Index struct {
	cfg    Config
	client *milvusclient.Client

	gate   sync.RWMutex // read-locked during each call; Close locks it
	closed bool

	collections collections
	loads       loads
	compactions compactions
}

// Open connects to the server and checks that it can do what cfg asks for, and
// that the collections that it has are of that kind.
func Open(ctx context.Context, cfg Config) (*Index, error) {
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	client, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	x := &Index{
		cfg: cfg, client: client,
		collections: newCollections(), loads: newLoads(),
		compactions: compactions{pending: map[string]*time.Timer{}},
	}
	if err := x.start(ctx); err != nil {
		_ = x.Close() // the error that is returned says more
		return nil, err
	}
	return x, nil
}

// connect returns a client whose connection is established.
func connect(ctx context.Context, cfg Config) (*milvusclient.Client, error) {
	config := &milvusclient.ClientConfig{
		Address: cfg.Address, DBName: cfg.Database, APIKey: cfg.Token,
		DialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(grpcretry.WithMax(attempts))},
	}
	if cfg.encrypted() {
		encryption, err := cfg.tlsConfig()
		if err != nil {
			return nil, err
		}
		if err := checkCertificate(ctx, cfg.Address, encryption); err != nil {
			return nil, err
		}
		config = config.WithTLSConfig(encryption)
	}
	waiting := time.AfterFunc(quietTime, func() { cfg.Logger.Warn("waiting for Milvus", "address", cfg.Address) })
	defer waiting.Stop()
	client, err := milvusclient.New(ctx, config)
	if err != nil {
		return nil, unreachable(cfg.Address, err)
	}
	return client, nil
}

func unreachable(address string, err error) error {
	if refusesCredentials(err) {
		return unauthorized().WithCause(err)
	}
	e := knowledge.Errorf(knowledge.CodeUnavailable, "Milvus cannot be reached at %s; start it, or correct vector.url", address).WithCause(err)
	e.Retryable = true
	return e
}

// start loads the collections. A server without any is checked for what a new
// collection needs.
func (x *Index) start(ctx context.Context) error {
	all, err := x.list(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return x.checkServer(ctx)
	}
	for _, c := range all {
		if err := x.checkCollection(ctx, c); err != nil {
			return err
		}
	}
	if _, err = x.known(ctx); errors.Is(err, errLoading) {
		x.cfg.Logger.WarnContext(ctx, "Milvus is still loading; searches are refused until it has", "address", x.cfg.Address, "error", err)
		return nil
	}
	return err
}

// enter begins a call, which leave ends.
func (x *Index) enter() (leave func(), err error) {
	x.gate.RLock()
	if x.closed {
		x.gate.RUnlock()
		return nil, knowledge.Errorf(knowledge.CodeUnavailable, "the index is closed")
	}
	return x.gate.RUnlock, nil
}

// Ping returns an error if the server does not answer for the collections.
func (x *Index) Ping(ctx context.Context) error {
	leave, err := x.enter()
	if err != nil {
		return err
	}
	defer leave()
	_, err = x.client.ListCollections(ctx, milvusclient.NewListCollectionOption(), grpcretry.Disable())
	return typed(err, "ask Milvus at %s for its collections", x.cfg.Address)
}

// Close waits for running calls and closes the connection.
func (x *Index) Close() error {
	x.compactions.stop()
	x.loads.stop()
	x.gate.Lock()
	defer x.gate.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	// The client waits for nothing here.
	if err := x.client.Close(context.Background()); err != nil {
		return fmt.Errorf("close the connection to Milvus: %w", err)
	}
	return nil
}
