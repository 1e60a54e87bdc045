package intake

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// accounts returns the accounts to which the documents of a request are counted. It is
// CodeRateLimited if one of them has used the tokens or the cost of this day.
func (in *Intake) accounts(ctx context.Context, p knowledge.Principal, project knowledge.Project) ([]knowledge.Account, error) {
	if err := quota.CheckDay(ctx, p, project.ID); err != nil {
		return nil, err
	}
	return quota.Accounts(ctx, p, project.ID)
}

// limitStored reports whether an account beside the project limits what is stored.
func limitStored(accounts []knowledge.Account) bool {
	return slices.ContainsFunc(accounts, func(a knowledge.Account) bool {
		return a.Kind != knowledge.ProjectAccount && a.Limits.LimitsStored()
	})
}
