package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"

	"github.com/cairn-rag/cairn/internal/namespace"
)

// Server is a running Temporal server with its UI.
type Server struct {
	config    Config
	address   string
	listeners []netip.AddrPort
	server    temporal.Server
	ui        *webUI
	stopping  *atomic.Bool

	stopResting context.CancelFunc
	rested      sync.WaitGroup
}

// Start starts the server and its UI and returns when both answer. It uses the
// files of an earlier start if the folder has them. It does not migrate files of
// another version of the server.
func Start(ctx context.Context, config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	api, err := parseEndpoint("the Temporal server", "temporal.listen", config.Listen)
	if err != nil {
		return nil, err
	}
	page, err := parseEndpoint("the Temporal UI", "temporal.ui_listen", config.UIListen)
	if err != nil {
		return nil, err
	}
	uiListener, err := page.listen()
	if err != nil {
		return nil, err
	}
	if err := createDatabases(ctx, config); err != nil {
		return nil, errors.Join(err, uiListener.Close())
	}
	if err := ownConnections(ctx, config); err != nil {
		return nil, errors.Join(err, uiListener.Close())
	}
	resting, stop := context.WithCancel(context.Background()) // canceled by Stop
	s := &Server{config: config, stopping: new(atomic.Bool), stopResting: stop}
	if err := s.startServer(api); err != nil {
		return nil, errors.Join(err, uiListener.Close())
	}
	if s.ui, err = startUI(uiListener, s.address, config); err != nil {
		return nil, errors.Join(err, uiListener.Close(), s.server.Stop())
	}
	if err := s.prepareNamespace(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	s.rested.Go(func() { s.keepSmall(resting) })
	return s, nil
}

// startServer starts the server's parts on free ports. It picks other ports, up
// to twice, if another process takes one before the server listens on it.
func (s *Server) startServer(api endpoint) error {
	for try := 1; ; try++ {
		ports, err := pickPorts(api)
		if err != nil {
			return err
		}
		err = s.startOn(api.addr.Addr(), ports)
		if err == nil {
			s.address = net.JoinHostPort(api.addr.Addr().String(), strconv.Itoa(ports[primitives.FrontendService]))
			for _, port := range ports {
				s.listeners = append(s.listeners, netip.AddrPortFrom(api.addr.Addr(), uint16(port)))
			}
			return nil
		}
		if try == 3 {
			return fmt.Errorf("start the Temporal server: %w", err)
		}
	}
}

func (s *Server) startOn(host netip.Addr, ports map[primitives.ServiceName]int) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case fatal:
			err = cause.err
		default:
			panic(cause)
		}
	}()
	logger := &serverLog{logger: s.config.Logger.With(slog.String("component", "temporal")), stopping: s.stopping}
	server, err := temporal.NewServer(
		temporal.WithConfig(serverConfig(s.config, host, ports)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(staticHosts(host, ports)),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(tuning()),
	)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return errors.Join(err, server.Stop())
	}
	s.server = server
	return nil
}

// pickPorts returns a port for each part of the server: the configured one for
// the API, and ports that are free now for the others.
func pickPorts(api endpoint) (map[primitives.ServiceName]int, error) {
	ports := map[primitives.ServiceName]int{}
	for _, name := range serviceNames() {
		e := endpoint{what: "a part of the Temporal server", key: "temporal.listen", addr: netip.AddrPortFrom(api.addr.Addr(), 0)}
		if name == primitives.FrontendService {
			e = api
		}
		l, err := e.listen()
		if err != nil {
			return nil, err
		}
		// The ports stay open until all are picked, so that no two parts get the same.
		defer l.Close()
		ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// Address returns the host and port of the gRPC API.
func (s *Server) Address() string { return s.address }

// Listeners returns all addresses on which the server, its parts and its UI
// listen. No request of a user may make this process dial one of them.
func (s *Server) Listeners() []netip.AddrPort {
	return append(slices.Clone(s.listeners), s.ui.addr)
}

// UIURL returns the address of the web UI, without a slash at its end.
func (s *Server) UIURL() string { return s.ui.url }

// Stop ends the UI and the server. Workflows resume at the next Start. Close
// clients and stop workers before.
func (s *Server) Stop() {
	if s.stopping.Swap(true) {
		return
	}
	s.stopResting()
	s.rested.Wait()
	if s.ui != nil {
		s.ui.stop()
	}
	if err := s.server.Stop(); err != nil {
		s.config.Logger.Warn("the Temporal server did not stop cleanly", slog.Any("error", err))
	}
	// A stop has no context of its own.
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	for _, path := range []string{historyPath(s.config.Dir), visibilityPath(s.config.Dir)} {
		if err := emptyLog(ctx, path); err != nil { // the next start reads the log
			s.config.Logger.Warn("a write-ahead log of the Temporal server was not emptied", slog.String("file", path), slog.Any("error", err))
		}
	}
}

// Namespace returns the name of the namespace that holds all workflows.
func (s *Server) Namespace() string { return namespace.Default }
