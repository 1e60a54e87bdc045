package namespace

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
)

// Default is the namespace of an installation that names no other.
const Default = "cairn"

// The bytes that the server may send on a loopback before they are read: more than the
// largest answer, and the answers of many calls.
const (
	streamWindow     = 4 << 20
	connectionWindow = 16 << 20
)

// dialPause is the time between two tries to reach the server.
const dialPause = 10 * time.Millisecond

// Target is a namespace of a Temporal server.
type Target struct {
	Address string // host and port
	Name    string
	APIKey  string // "" = none. A key implies TLS
	TLS     *TLS   // nil = none, unless there is a key
}

// TLS is how a connection to the server is encrypted.
type TLS struct {
	CAFile     string // of the server's certificate, "" = the authorities of the system
	CertFile   string // of this client, "" = none
	KeyFile    string // of this client, "" = none
	ServerName string // in the server's certificate, "" = the host of the address
}

// options returns the options of a client.
func (t Target) options(logger *slog.Logger) (client.Options, error) {
	profile := envconfig.ClientConfigProfile{Address: t.Address, Namespace: t.Name, APIKey: t.APIKey}
	if t.TLS != nil {
		profile.TLS = &envconfig.ClientConfigTLS{
			ServerCACertPath: t.TLS.CAFile, ClientCertPath: t.TLS.CertFile, ClientKeyPath: t.TLS.KeyFile, ServerName: t.TLS.ServerName,
		}
	}
	o, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return o, fmt.Errorf("connect to the Temporal server on %s: %w", t.Address, err)
	}
	o.Logger = sdklog.NewStructuredLogger(slog.New(sdkHandler{logger.Handler()}))
	if a, err := netip.ParseAddrPort(t.Address); err == nil && a.Addr().IsLoopback() {
		// On a loopback, compression costs time and saves none.
		o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
		// With windows of a fixed size the connection does not measure its delay with a ping
		// for each answer.
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions,
			grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connectionWindow))
	}
	return o, nil
}

// Dial returns a client of a namespace. It tries until the server answers or ctx
// ends. The functions change the client's options before that.
func Dial(ctx context.Context, t Target, logger *slog.Logger, options ...func(*client.Options)) (client.Client, error) {
	o, err := t.options(logger)
	if err != nil {
		return nil, err
	}
	for _, change := range options {
		change(&o)
	}
	for {
		c, err := dialOnce(ctx, o)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("reach the Temporal server on %s: %w (%w)", t.Address, ctx.Err(), err)
		case <-time.After(dialPause):
		}
	}
}

func dialOnce(ctx context.Context, o client.Options) (client.Client, error) {
	c, err := client.DialContext(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// RunURL returns the address of the page of a workflow's run, or of its newest run if
// runID is empty. ui is the address of the Temporal UI; without one there is no page.
func RunURL(ui, name, workflowID, runID string) string {
	if ui == "" {
		return ""
	}
	page := ui + "/namespaces/" + url.PathEscape(name) + "/workflows/" + url.PathEscape(workflowID)
	if runID == "" {
		return page
	}
	return page + "/" + url.PathEscape(runID) + "/history"
}
