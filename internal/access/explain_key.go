package access

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// rightsOfKey is rightsOf for a reader with an API key.
func (x *Explainer) rightsOfKey(ctx context.Context, asker knowledge.Principal, r Reader) (knowledge.Claims, Explanation, error) {
	key, valid, err := x.store.FindKey(ctx, asker, r.KeyID)
	if err != nil {
		return knowledge.Claims{}, Explanation{}, fmt.Errorf("read key %s: %w", r.KeyID, err)
	}
	claims, err := x.rights.keyClaims(ctx, key)
	if err != nil {
		return claims, Explanation{}, fmt.Errorf("read the rights of key %s: %w", r.KeyID, err)
	}
	acting := Acting{User: r.User, ExternalUser: r.ExternalUser}
	_, refused := x.rights.resolve(ctx, asker.Workspace(), &acting)
	if refused != nil && !knowledge.IsCode(refused, knowledge.CodeForbidden) {
		return claims, Explanation{}, refused
	}
	claims.Workspace, claims.Instance, claims.User, claims.ExternalUser = asker.Workspace(), false, acting.User, r.ExternalUser
	if r.User != "" {
		if err := x.rights.addServiceGroups(ctx, &claims); err != nil {
			return claims, Explanation{}, err
		}
	}
	if r.User != "" || r.ExternalUser != "" {
		if err := x.rights.clearFor(ctx, &claims); err != nil {
			return claims, Explanation{}, err
		}
	}
	e := Explanation{Allowed: valid, Because: x.ofKey(key, valid)}
	if refused != nil {
		e.Allowed, e.Because = false, append(e.Because, deactivated(r.User))
	}
	if claims.NoDocuments {
		e.Allowed = false
		e.Because = append(e.Because, Reason{Kind: KindPermission, ID: string(knowledge.DocumentsRead), Effect: EffectDeny, Detail: "the key lacks the permission to read documents"})
	}
	return claims, e, nil
}

// ofKey returns the reasons that come from a key.
func (x *Explainer) ofKey(k store.Key, valid bool) []Reason {
	if !valid {
		detail := "a key that made it has expired, or has no scope in common with it"
		switch {
		case !k.RevokedAt.IsZero():
			detail = "it was revoked at " + k.RevokedAt.Format(time.RFC3339)
		case !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(x.now()):
			detail = "it has expired at " + k.ExpiresAt.Format(time.RFC3339)
		}
		return []Reason{{Kind: KindKey, ID: k.ID, Effect: EffectDeny, Detail: fmt.Sprintf("the key %q is not valid: %s", k.Name, detail)}}
	}
	end := "without an end"
	if !k.ExpiresAt.IsZero() {
		end = "until " + k.ExpiresAt.Format(time.RFC3339)
	}
	reasons := []Reason{{Kind: KindKey, ID: k.ID, Effect: EffectAllow, Detail: fmt.Sprintf("the key %q is valid %s", k.Name, end)}}
	for _, maker := range k.Makers {
		reasons = append(reasons, Reason{Kind: KindMaker, ID: maker.ID, Effect: EffectAllow, Detail: "this key made the one before it, and holds it to its own project, scopes and end"})
	}
	return reasons
}
