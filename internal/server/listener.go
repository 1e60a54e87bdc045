package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// serve serves a handler until the platform is closed.
func (p *platform) serve(l net.Listener, handler http.Handler, stopping func()) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug), ConnContext: smallSendBuffer,
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
	}()
	p.onClose(func() error {
		stopping()
		ctx, cancel := context.WithDeadline(context.Background(), p.stopBy) // the context of the start may have ended long ago
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			return server.Close() // the runs behind open requests resume at the next start
		}
		return nil
	})
}

// sendBuffer is what the kernel holds of an answer, in bytes. It grows to 4 MB
// otherwise, and tells the server of room only when a third of it is free: a
// client that reads 20 KB a second would look for a minute as if it did not read.
const sendBuffer = 128 << 10

func smallSendBuffer(ctx context.Context, c net.Conn) context.Context {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it only slow clients are dropped early
	}
	return ctx
}
