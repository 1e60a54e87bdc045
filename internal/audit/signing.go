package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Checkpoint signs what each chain has, if it is longer than at the last checkpoint and what
// is new follows from there. The chain of a workspace that does not is never signed again:
// a signature would hide what was changed.
func (k *Keeper) Checkpoint(ctx context.Context) error {
	heads, err := k.Store.AuditHeads(ctx)
	if err != nil {
		return err
	}
	k.marks.Lock()
	defer k.marks.Unlock()
	var errs []error
	for _, head := range heads {
		errs = append(errs, k.checkpoint(ctx, head))
	}
	return errors.Join(errs...)
}

func (k *Keeper) checkpoint(ctx context.Context, head Head) error {
	known, err := k.Checkpoints(ctx, head.Workspace)
	if err != nil {
		return err
	}
	var after int64
	for _, c := range known {
		if c.SignedBy(k.Signer.PublicKey()) {
			after = max(after, c.Seq)
		}
	}
	if after > 0 && after == head.Seq {
		return nil
	}
	report, err := k.verify(ctx, Start{Workspace: head.Workspace, After: after}, known)
	if err != nil {
		return err
	}
	if report.Broken != nil || report.Last < head.Seq {
		k.reportBreak(ctx, head.Workspace, report)
		return nil
	}
	c := k.Signer.Sign(Checkpoint{Kind: KindCheckpoint, Workspace: head.Workspace, Seq: report.Last, Hash: report.Hash, At: time.Now()})
	err = k.Store.PutAuditCheckpoint(ctx, c)
	if k.Outside != nil {
		err = errors.Join(err, k.Outside.Put(ctx, c))
	}
	return err
}

func (k *Keeper) reportBreak(ctx context.Context, workspace string, r Report) {
	if k.broken == nil {
		k.broken = map[string]bool{}
	}
	if k.broken[workspace] {
		return
	}
	k.broken[workspace] = true
	message := "its newest entry is gone"
	if r.Broken != nil {
		message = r.Broken.Message
	}
	k.Log.ErrorContext(ctx, "the audit was changed from outside; it gets no checkpoint until somebody has looked at it (cairn audit verify)", "workspace", workspace, "break", message)
}

// Checkpoints lists the checkpoints of a workspace that the database has, and those outside.
func (k *Keeper) Checkpoints(ctx context.Context, workspace string) ([]Checkpoint, error) {
	list, err := k.Store.AuditCheckpoints(ctx, workspace)
	if err != nil || k.Outside == nil {
		return list, err
	}
	outside, err := k.Outside.List(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints outside of the database: %w", err)
	}
	known := map[string]bool{}
	for _, c := range list {
		known[c.Signature] = true
	}
	for _, c := range outside {
		if !known[c.Signature] {
			list = append(list, c)
		}
	}
	return list, nil
}

// PublicKey returns the key that checks the signatures of checkpoints, in hexadecimal.
func (k *Keeper) PublicKey() string { return k.Signer.PublicKey() }

// Verify checks the chain of a workspace behind an entry that a checkpoint knows; 0 = from
// its beginning.
func (k *Keeper) Verify(ctx context.Context, workspace string, after int64) (Report, error) {
	if err := k.Keep(ctx); err != nil {
		return Report{}, err
	}
	known, err := k.Checkpoints(ctx, workspace)
	if err != nil {
		return Report{}, err
	}
	if after > 0 && !slices.ContainsFunc(known, func(c Checkpoint) bool { return c.Seq == after }) {
		return Report{}, knowledge.Invalid("query.after", "must be the entry of a checkpoint: GET audit/checkpoints lists them")
	}
	return k.verify(ctx, Start{Workspace: workspace, After: after}, known)
}

func (k *Keeper) verify(ctx context.Context, start Start, known []Checkpoint) (Report, error) {
	v := NewVerifier(start, k.Signer.PublicKey(), known)
	for at := v.next - 1; ; {
		entries, err := k.Store.AuditLinks(ctx, start.Workspace, at, page)
		if err != nil {
			return Report{}, err
		}
		for _, e := range entries {
			if at = e.Seq; !v.Next(e) {
				return v.Report(), nil
			}
		}
		if len(entries) < page {
			return v.Report(), nil
		}
	}
}

// Cut removes the entries that are older than Days, in parts, and leaves a signed record of
// what it removed.
func (k *Keeper) Cut(ctx context.Context) error {
	heads, err := k.Store.AuditHeads(ctx)
	if err != nil {
		return err
	}
	before := time.Now().AddDate(0, 0, -k.Days)
	for _, head := range heads {
		for removed := int64(page); removed == page; {
			var cut Checkpoint
			if cut, removed, err = k.Store.CutAudit(ctx, head.Workspace, before, page, k.Signer.Sign); err != nil {
				return err
			}
			if removed == 0 {
				break
			}
			if err := k.reportCut(ctx, cut); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportCut writes a cut down in the audit itself, and outside.
func (k *Keeper) reportCut(ctx context.Context, cut Checkpoint) error {
	id := fmt.Sprintf("cut/%s/%d", cut.Workspace, cut.Seq)
	_, err := k.Store.ExtendAudit(ctx, Batch{Rows: []Row{{ID: id, Workspace: cut.Workspace, Entry: Entry{
		At: cut.At, Actor: "retention", Action: "cut-audit", Outcome: OutcomeOK, Details: Details{Upto: cut.Seq}.encode(),
	}}}})
	if err == nil && k.Outside != nil {
		err = k.Outside.Put(ctx, cut)
	}
	return err
}
