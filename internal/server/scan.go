package server

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/clamd"
	"github.com/cairn-rag/cairn/internal/config"
)

// scannerName is the malware scanner in /readyz and cairn doctor.
const scannerName = "scanner"

// scanner returns the malware scanner, nil if none is configured. Its address is the operator's.
func (p *platform) scanner() *clamd.Client {
	if p.cfg.Scan.Clamd == "" {
		return nil
	}
	return clamd.New(p.cfg.Scan.Clamd)
}

// CheckScanner asks the configured malware scanner. It returns nothing if there is none.
func CheckScanner(ctx context.Context, cfg config.Config) []Finding {
	if cfg.Scan.Clamd == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	if err := clamd.New(cfg.Scan.Clamd).Ping(ctx); err != nil {
		return []Finding{{scannerName, FindingBad, fmt.Sprintf("clamd at %s does not answer; documents wait for it", cfg.Scan.Clamd), "start clamd, with TCPSocket in clamd.conf; what waits is then scanned, at once with cairn documents retry"}}
	}
	return []Finding{{scannerName, FindingOK, "clamd at " + cfg.Scan.Clamd + " answers", ""}}
}
