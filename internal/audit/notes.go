package audit

import "context"

// Left notes documents whose text is about to leave. Their row is kept before the next bytes
// of the answer are sent.
func Left(ctx context.Context, documents ...string) {
	t := of(ctx)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]bool{}
	}
	for _, d := range documents {
		if d != "" && !t.known[d] {
			t.known[d], t.fresh = true, append(t.fresh, d)
		}
	}
}

// Asked notes a question.
func Asked(ctx context.Context, question string) {
	if t := of(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.details.QuestionSHA256 = hexOf([]byte(question)); t.text {
			t.details.Question = question
		}
	}
}

// Made notes what a request made or changed. The first of them is the object of the entry,
// unless the path of the request names one.
func Made(ctx context.Context, objects ...string) {
	t := of(ctx)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, object := range objects {
		switch {
		case t.row.Entry.Object == "":
			t.row.Entry.Object = clean(object)
		case len(t.details.Objects) < maxDocuments:
			t.details.Objects = append(t.details.Objects, clean(object))
		}
	}
}

// Ran notes the run that a request started or reads.
func Ran(ctx context.Context, run string) {
	if t := of(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.details.Run = clean(run)
	}
}

// Within notes the workspace of a request whose path and credentials name none.
func Within(ctx context.Context, workspace string) {
	if t := of(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.row.Workspace = workspace
	}
}

// SignedIn notes who a request signed in.
func SignedIn(ctx context.Context, actor, workspace string) {
	if t := of(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.row.Entry.Actor, t.row.Workspace = clean(actor), workspace
	}
}
