package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// retention starts the runs of retention that are due: one an hour in each workspace with a
// project that does not keep everything. An hour that passed while every process was dead is
// made up for at once.
func (s *Sweep) retention(ctx context.Context) error {
	since := time.Now().Add(-retentionEvery)
	workspaces, err := s.Store.RetentionWorkspaces(ctx, since)
	if err != nil {
		return fmt.Errorf("sweep retention: %w", err)
	}
	var errs []error
	for _, workspace := range workspaces {
		run, started, err := s.Store.StartRetention(ctx, workspace, "", knowledge.NewID(), since)
		if err == nil && started {
			err = s.Workflows.Retain(ctx, run)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("apply the retention of workspace %s: %w", workspace, err))
		}
	}
	return errors.Join(errs...)
}
