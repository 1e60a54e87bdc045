package server

import (
	"time"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// meter returns what counts requests and knows limits. Only the start of the process calls it.
func (p *platform) meter() *quota.Meter {
	if p.quota == nil {
		l := p.cfg.Limits
		p.quota = quota.New(quota.Config{Key: useLimits(l.Key), User: useLimits(l.User), Project: useLimits(l.Project), Workspace: useLimits(l.Workspace)}, p.store, time.Now)
	}
	return p.quota
}

func useLimits(l config.UseLimits) knowledge.UseLimits {
	return knowledge.UseLimits{
		RequestsPerMinute: l.RequestsPerMinute, TokensPerDay: l.TokensPerDay, Documents: l.Documents, Bytes: int64(l.Bytes), CostPerDay: l.CostPerDay,
	}
}
