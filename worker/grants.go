package worker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// grants starts the workflows that end the grants of this minute and the next one, so that none is left
// to the next sweep alone. Those that ended while every process was dead are ended at once.
func (s *Sweep) grants(ctx context.Context) error {
	before := time.Now().Add(2 * sweepInterval)
	workspaces, err := s.Store.EndingGrants(ctx, before)
	if err != nil {
		return fmt.Errorf("sweep grants: %w", err)
	}
	var errs []error
	for _, workspace := range workspaces {
		if err := s.Workflows.EndGrants(ctx, workspace, before); err != nil {
			errs = append(errs, fmt.Errorf("end grants of workspace %s: %w", workspace, err))
		}
	}
	return errors.Join(errs...)
}
