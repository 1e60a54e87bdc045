package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// ExplainStore reads what an explanation needs. Its methods are those of the store.
type ExplainStore interface {
	// ExplainAccess returns which rules let a search of the reader show a document.
	ExplainAccess(ctx context.Context, asker, reader knowledge.Principal, document string) (store.AccessFindings, error)
	// FindKey returns a key, and whether it is valid.
	FindKey(ctx context.Context, p knowledge.Principal, id string) (k store.Key, valid bool, err error)
	// Conversation returns the principal's conversation.
	Conversation(ctx context.Context, p knowledge.Principal, id string) (store.Conversation, error)
}

// Reader names somebody whose access to a document is explained: with a token or a
// session, or with an API key that acts for a user.
type Reader struct {
	User         string
	Groups       []string // of a token, beside those of the member of this name
	Clearance    string   // of a token, beside that of the member of this name; "" = none
	ExternalUser string
	Conversation string // whose attachments the reader searches too
	KeyID        string
}

// Effect is what a rule does to a reader.
type Effect string

// The effects. A search shows a document if no rule denies it.
const (
	EffectAllow Effect = "allow"
	EffectDeny  Effect = "deny"
	EffectNone  Effect = "none" // it decides about something else than a search
)

// ReasonKind is the kind of a rule: that of a store.Rule, or one of these.
type ReasonKind string

// The kinds of reasons that are no rules of the store.
const (
	KindKey          ReasonKind = "key"
	KindMaker        ReasonKind = "maker" // a key that made the key
	KindPermission   ReasonKind = "permission"
	KindMember       ReasonKind = "member"
	KindEveryone     ReasonKind = "everyone"
	KindUser         ReasonKind = "user"
	KindGroup        ReasonKind = "group"
	KindExternalUser ReasonKind = "external_user"
	KindConversation ReasonKind = "conversation"
	KindGrant        ReasonKind = "grant"
	KindHold         ReasonKind = "hold"
	KindScope        ReasonKind = "scope"
)

// Reason is a rule that was applied.
type Reason struct {
	Kind   ReasonKind
	ID     string // of the thing that the rule is about, "" = none
	Effect Effect
	Detail string            // a sentence for people
	Values map[string]string // further names in the sentence, for those who write one in another language
}

// Explanation is whether a search of a reader shows a document, and why.
type Explanation struct {
	Allowed bool
	Because []Reason // in the order in which the rules were applied
}

// Explainer explains who sees a document. It applies the rules of the store's check.
type Explainer struct {
	store  ExplainStore
	rights *Authenticator // of keys and members
	now    func() time.Time
}

// Explainer returns an Explainer that gives readers the rights that the Authenticator gives
// them.
func (a *Authenticator) Explainer(s ExplainStore, now func() time.Time) *Explainer {
	return &Explainer{s, a, now}
}

// Explain returns whether a search of a reader shows a document, and the rules that decide
// it. The asker must have AccessRead for the project of the document: CodeForbidden without
// the permission, CodeNotFound for a document, a key or a conversation that is not
// there for the asker.
func (x *Explainer) Explain(ctx context.Context, asker knowledge.Principal, document string, r Reader) (Explanation, error) {
	if err := r.check(); err != nil {
		return Explanation{}, err
	}
	claims, e, err := x.rightsOf(ctx, asker, r)
	if err != nil {
		return Explanation{}, err
	}
	reader, err := x.inConversation(ctx, claims, r.Conversation)
	if err != nil {
		return Explanation{}, err
	}
	found, err := x.store.ExplainAccess(ctx, asker, reader, document)
	if err != nil {
		return Explanation{}, fmt.Errorf("explain the access to document %s: %w", document, err)
	}
	e.Allowed = e.Allowed && found.Allowed()
	e.Because = append(e.Because, reasonsOf(found, reader)...)
	return e, nil
}

// rightsOf returns what a reader may do, with the reasons that come from its key or its
// membership.
func (x *Explainer) rightsOf(ctx context.Context, asker knowledge.Principal, r Reader) (knowledge.Claims, Explanation, error) {
	if r.KeyID != "" {
		return x.rightsOfKey(ctx, asker, r)
	}
	claims, e := knowledge.Claims{
		Workspace: asker.Workspace(), Scopes: []knowledge.Scope{knowledge.ScopeRead}, User: r.User, Groups: r.Groups, ExternalUser: r.ExternalUser,
	}, Explanation{Allowed: true}
	if r.User == "" {
		x.rights.clear(&claims)
		return claims, e, nil
	}
	member, err := x.rights.addMember(ctx, &claims)
	if err != nil {
		return claims, e, err
	}
	clearances := []string{r.Clearance}
	if member != nil {
		e.Because = []Reason{ofMember(member)}
		clearances = append(clearances, member.Clearance)
		if claims.Permissions, err = x.rights.permissionsOf(ctx, claims.Workspace, member.Roles); err != nil {
			return claims, e, err
		}
		if !member.DeactivatedAt.IsZero() {
			e.Allowed, e.Because = false, []Reason{deactivated(member.Name)}
		}
	}
	x.rights.clear(&claims, clearances...)
	return claims, e, nil
}

// deactivated is the reason that denies everything to a user whom the identity provider has deactivated.
func deactivated(user string) Reason {
	return Reason{Kind: KindMember, ID: user, Effect: EffectDeny, Detail: "the identity provider of the workspace has deactivated the reader"}
}

// ofMember returns the reason that comes from a membership.
func ofMember(m *store.Member) Reason {
	reason := Reason{KindMember, m.Name, EffectAllow, "the reader is a member of the workspace", map[string]string{}}
	if groups := strings.Join(joined(m.Groups, m.Provisioned), ", "); groups != "" {
		reason.Detail += ", in the groups " + groups
		reason.Values["groups"] = groups
	}
	if m.Project != "" {
		reason.Detail += fmt.Sprintf(", for the project %q alone", m.Project)
		reason.Values["project"] = m.Project
	}
	return reason
}

// check refuses readers that no request can have.
func (r Reader) check() error {
	switch {
	case r.User != "" && r.ExternalUser != "":
		return knowledge.Invalid("query.external_user", "is a customer of an application, and user is a person of the workspace: name one of them")
	case r.KeyID != "" && len(r.Groups) > 0:
		return knowledge.Invalid("query.groups", "come with a token, and a key brings none: leave groups or key_id out")
	case r.ExternalUser != "" && len(r.Groups) > 0:
		return knowledge.Invalid("query.groups", "are those of a person of the workspace: leave groups or external_user out")
	}
	return Acting{User: r.User, ExternalUser: r.ExternalUser}.check()
}

// inConversation returns the principal of claims in one of its own conversations, "" = none.
func (x *Explainer) inConversation(ctx context.Context, claims knowledge.Claims, conversation string) (knowledge.Principal, error) {
	reader := knowledge.NewPrincipal(claims)
	if conversation == "" {
		return reader, nil
	}
	if _, err := x.store.Conversation(ctx, reader, conversation); err != nil {
		return reader, fmt.Errorf("read the reader's conversation %s: %w", conversation, err)
	}
	claims.ConversationID = conversation
	return knowledge.NewPrincipal(claims), nil
}

// reasonsOf returns the reasons that come from the rules of a search.
func reasonsOf(found store.AccessFindings, reader knowledge.Principal) []Reason {
	var reasons []Reason
	reached := true
	for _, rule := range found.Rules {
		switch rule.Rule {
		case store.RuleAccess:
			reached = reached && rule.Holds
			reasons = append(reasons, ofAccess(found, rule.Holds)...)
			reasons = append(reasons, ofGrants(found, knowledge.GrantAllow)...)
			continue
		case store.RuleDenial:
			reached = reached && rule.Holds
			reasons = append(reasons, ofGrants(found, knowledge.GrantDeny)...)
			continue
		}
		reason := ofRule(rule, found.Document, reader)
		if reason.Effect = EffectDeny; rule.Holds {
			reason.Effect = EffectAllow
		}
		reasons = append(reasons, reason)
	}
	if found.Document.LegalHold {
		reasons = append(reasons, Reason{Kind: KindHold, ID: found.Document.ID, Effect: EffectNone, Detail: "a legal hold keeps the document from removal; it does not change who sees it"})
	}
	if !reached && reader.Can(knowledge.ScopeWrite) && !hidden(found) {
		reasons = append(reasons, Reason{Kind: KindScope, ID: string(knowledge.ScopeWrite), Effect: EffectNone, Detail: "the key has the write scope: it lists, opens and changes the document, although no search of it finds the document"})
	}
	return reasons
}

// ofRule returns the reason of a rule without its effect.
func ofRule(rule store.RuleFinding, d knowledge.Document, reader knowledge.Principal) Reason {
	either := func(holds, not string) string {
		if rule.Holds {
			return holds
		}
		return not
	}
	switch reason := (Reason{Kind: ReasonKind(rule.Rule)}); rule.Rule {
	case store.RuleWorkspace:
		reason.ID, reason.Detail = d.Workspace, either("the reader acts in the workspace of the document", "the document is in another workspace")
		return reason
	case store.RuleProject:
		reason.ID = d.Project
		reason.Detail = either("the key is for the project of the document", fmt.Sprintf("the key is for the project %q alone, and the document is in %q", reader.Project(), d.Project))
		if reader.Project() == "" {
			reason.Detail = "nothing holds the reader to one project"
		} else {
			reason.Values = map[string]string{"project": reader.Project()}
		}
		return reason
	case store.RuleRemoval:
		reason.ID, reason.Detail = d.ID, either("the document is not being removed", "the document is being removed")
		return reason
	case store.RuleStatus:
		reason.ID, reason.Detail = string(d.Status), either("the document is active", "the document is inactive: PATCH its status to published to show it again")
		return reason
	case store.RuleLevel:
		reason.ID = d.Classification
		reason.Detail = either("the reader's clearance, "+reader.Clearance()+", covers the classification of the document", "the document is above the reader's clearance, "+reader.Clearance())
		return reason
	default:
		reason.ID = fmt.Sprint(d.PublishedVersion)
		reason.Detail = either(fmt.Sprintf("version %d is published", d.PublishedVersion), "no version of the document is published yet")
		return reason
	}
}

// ofAccess returns the reasons that come from the access list of a document. There are none where
// a grant alone lets the reader in.
func ofAccess(found store.AccessFindings, holds bool) []Reason {
	d := found.Document
	if !holds {
		return []Reason{{Kind: ReasonKind(store.RuleAccess), ID: d.ID, Effect: EffectDeny, Detail: "the reader is none of those who see the document: " + audience(d)}}
	}
	var reasons []Reason
	for _, token := range found.Tokens {
		kind, name, _ := strings.Cut(token, ":")
		reason := Reason{ID: name, Effect: EffectAllow}
		switch kind {
		case "w":
			reason.Kind, reason.Detail = KindEveryone, "the access list has the whole workspace"
		case "u":
			reason.Kind, reason.Detail = KindUser, fmt.Sprintf("the access list has the user %q", name)
		case "g":
			reason.Kind, reason.Detail = KindGroup, fmt.Sprintf("the access list has the group %q", name)
		case "x":
			reason.Kind, reason.Detail = KindExternalUser, fmt.Sprintf("the document belongs to the external user %q alone", name)
		default:
			reason.Kind, reason.Detail = KindConversation, fmt.Sprintf("the document is attached to the conversation %q, which is the reader's", name)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// audience returns the words for who sees a document.
func audience(d knowledge.Document) string {
	switch {
	case d.ExternalUserID != "":
		return fmt.Sprintf("it belongs to the external user %q alone", d.ExternalUserID)
	case d.ConversationID != "":
		return fmt.Sprintf("it is attached to the conversation %q, and only questions in that conversation find it", d.ConversationID)
	case d.Access.Workspace:
		return "the whole workspace"
	}
	var parts []string
	for _, list := range []struct {
		name  string
		names []string
	}{{"users", d.Access.Users}, {"groups", d.Access.Groups}} {
		if len(list.names) > 0 {
			parts = append(parts, "the "+list.name+" "+strings.Join(slices.Sorted(slices.Values(list.names)), ", "))
		}
	}
	if len(parts) == 0 {
		return "nobody, until its access names somebody"
	}
	return strings.Join(parts, " and ")
}
