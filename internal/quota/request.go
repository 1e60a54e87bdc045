package quota

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Request is one request, and the limits against which it was counted. It is safe for
// concurrent use.
type Request struct {
	meter *Meter

	mu      sync.Mutex
	counted map[string]bool
	left    []left
	flood   bool
}

// refusalsTold is how many refusals in a row are no flood.
const refusalsTold = 10

// left is what a limit of requests has left.
type left struct {
	kind      knowledge.AccountKind
	limit     int
	remaining int
	reset     time.Duration
}

type requestKey struct{}

// Begin returns a context with a Request, which the functions of this package find. Without one
// they do nothing.
func (m *Meter) Begin(ctx context.Context) (context.Context, *Request) {
	r := &Request{meter: m, counted: map[string]bool{}}
	return context.WithValue(ctx, requestKey{}, r), r
}

func of(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// Count counts the request of ctx to a principal and, unless it is "", a project: once to each
// account. It is CodeRateLimited if one of them has had its requests of a minute.
func Count(ctx context.Context, p knowledge.Principal, project string) error {
	r := of(ctx)
	if r == nil || p.Workspace() == "" {
		return nil
	}
	accounts, err := r.meter.Accounts(ctx, p, project)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if err := r.count(ctx, p.Workspace(), a); err != nil {
			return err
		}
	}
	return nil
}

// CountAgent counts the request of ctx to a published project. It is CodeRateLimited if the agent
// has had its requests of a minute.
func CountAgent(ctx context.Context, pub knowledge.Publication) error {
	r := of(ctx)
	if r == nil {
		return nil
	}
	limits := knowledge.UseLimits{RequestsPerMinute: pub.Limits.WithDefaults().RequestsPerMinute}
	return r.count(ctx, pub.Workspace, knowledge.Account{Kind: knowledge.AgentAccount, ID: pub.Project, Limits: limits})
}

func (r *Request) count(ctx context.Context, workspace string, a knowledge.Account) error {
	limit := a.Limits.RequestsPerMinute
	name := workspace + "\n" + a.Name()
	r.mu.Lock()
	again := r.counted[name]
	r.counted[name] = true
	r.mu.Unlock()
	if limit == 0 || again {
		return nil
	}
	got, err := r.meter.leases.Take(ctx, r.meter.now(), name, limit)
	if err != nil {
		return fmt.Errorf("count a request: %w", err)
	}
	wait, reset := got.Wait, got.Wait
	if wait == 0 {
		reset = time.Minute
	}
	r.mu.Lock()
	r.left = append(r.left, left{a.Kind, limit, got.Remaining, reset})
	r.flood = r.flood || got.Refusals > refusalsTold
	r.mu.Unlock()
	if wait == 0 {
		return nil
	}
	e := knowledge.Errorf(knowledge.CodeRateLimited, "%s may send %d requests a minute (limits.requestsPerMinute); wait and send it again", a.What(), limit)
	e.RetryAfter, e.Retryable = wait, true
	return e
}

// IsFlood reports that the request was refused, and so were many before it.
func (r *Request) IsFlood() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flood
}

// WriteHeaders sends what the limits have left in the headers RateLimit-Policy and RateLimit,
// nothing without limits.
func (r *Request) WriteHeaders(h http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var policies, states []string
	for _, l := range r.left {
		policies = append(policies, fmt.Sprintf("%q;q=%d;w=60", l.kind, l.limit))
		states = append(states, fmt.Sprintf("%q;r=%d;t=%d", l.kind, l.remaining, int(math.Ceil(l.reset.Seconds()))))
	}
	if len(policies) > 0 {
		h.Set("RateLimit-Policy", strings.Join(policies, ", "))
		h.Set("RateLimit", strings.Join(states, ", "))
	}
}

// Accounts returns the accounts to which what the request of ctx starts or stores is counted,
// nil outside of a request.
func Accounts(ctx context.Context, p knowledge.Principal, project string) ([]knowledge.Account, error) {
	r := of(ctx)
	if r == nil {
		return nil, nil
	}
	return r.meter.Accounts(ctx, p, project)
}

// CheckDay is CodeRateLimited if the principal of a request or the project has used the tokens
// or the cost of this day.
func CheckDay(ctx context.Context, p knowledge.Principal, project string) error {
	accounts, err := Accounts(ctx, p, project)
	if err != nil || !slices.ContainsFunc(accounts, limitsDay) {
		return err
	}
	return of(ctx).meter.store.CheckDay(ctx, p.Workspace(), accounts)
}

func limitsDay(a knowledge.Account) bool { return a.Limits.LimitsDay() }

// Charge counts use of models that no run has. It outlasts ctx: the model was asked.
func Charge(ctx context.Context, p knowledge.Principal, project string, used knowledge.Usage) error {
	ctx = context.WithoutCancel(ctx)
	accounts, err := Accounts(ctx, p, project)
	if err != nil || !slices.ContainsFunc(accounts, limitsDay) { // a search without limits writes nothing
		return err
	}
	return of(ctx).meter.store.ChargeUse(ctx, p.Workspace(), accounts, used)
}
