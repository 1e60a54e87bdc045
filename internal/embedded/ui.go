package embedded

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"

	"github.com/cairn-rag/cairn/internal/namespace"
)

// webUI is the running UI.
type webUI struct {
	url    string
	addr   netip.AddrPort
	server *http.Server
}

// settings implements the UI's ConfigProvider with a fixed configuration.
type settings struct{ config uiconfig.Config }

// GetConfig implements the UI's ConfigProvider.
func (s *settings) GetConfig() (*uiconfig.Config, error) { return &s.config, nil }

// startUI serves the UI on a listener, behind guard. The UI's own server opens
// its port itself and ends the process if it cannot, so startUI assembles the
// UI's routes on a server of ours.
func startUI(l net.Listener, temporal string, config Config) (*webUI, error) {
	handler, err := uiHandler(temporal, config.Codec)
	if err != nil {
		return nil, fmt.Errorf("prepare the Temporal UI: %w", err)
	}
	logger := config.Logger.With(slog.String("component", "temporal-ui"))
	server := uiServer(handler, logger)
	go func() {
		if err := server.Serve(l); err != nil && err != http.ErrServerClosed {
			logger.Error("the Temporal UI stopped", slog.Any("error", err))
		}
	}()
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	return &webUI{url: "http://" + addr.String(), addr: addr, server: server}, nil
}

// uiServer returns the server of the UI. Mistakes of the UI, such as a second status of an
// answer, are no warnings for our operators.
func uiServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           guard(handler),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

func (u *webUI) stop() {
	_ = u.server.Close() // pages that are open lose nothing but a refresh
}

// codecPath is where the UI has payloads decrypted. The page, and so the browser's cookies, are of
// the same host.
const codecPath = "/codec"

// uiHandler returns the pages of the UI, and the decryption of payloads if codec is not nil.
func uiHandler(temporal string, codec http.Handler) (http.Handler, error) {
	decrypts := uiconfig.Codec{}
	if codec != nil {
		decrypts.Endpoint, decrypts.IncludeCredentials = codecPath, true
		decrypts.DefaultErrorMessage = "Payloads are encrypted: sign in to Cairn's console in this browser, at the same host name, with the instance's admin key (cairn up prints a link)."
	}
	provider, err := uiconfig.NewConfigProviderWithRefresh(&settings{uiconfig.Config{
		TemporalGRPCAddress: temporal,
		EnableUI:            true,
		DefaultNamespace:    namespace.Default,
		DisableNewsFetch:    true, // the UI fetches nothing from other sites
		HideLogs:            true,
		Codec:               decrypts,
		CORS:                uiconfig.CORS{CookieInsecure: true}, // loopback has no TLS
	}})
	if err != nil {
		return nil, err
	}
	assets, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	pages, err := fs.Sub(assets, "local")
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard) // Recover answers a panic with 500
	e.Use(middleware.Recover(), middleware.Gzip(), middleware.Secure())
	e.Use(csrf.EnsureTokenCookie(false), middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)))
	route.SetHealthRoute(e)
	forward := headers.WithForwardHeaders([]string{"Caller-Type"})
	if err := route.SetAPIRoutes(e, provider, []api.Middleware{forward}); err != nil {
		return nil, err
	}
	if err := route.SetUIRoutes(e, "", pages); err != nil {
		return nil, err
	}
	route.SetRenderRoute(e, "")
	if codec == nil {
		return e, nil
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+codecPath+"/decode", codec)
	mux.Handle("/", e)
	return mux, nil
}

// RunURL returns the address of the page of a workflow's run, or of its newest
// run if runID is empty.
func (s *Server) RunURL(workflowID, runID string) string {
	return namespace.RunURL(s.ui.url, namespace.Default, workflowID, runID)
}
