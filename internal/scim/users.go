package scim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	scim "github.com/elimity-com/scim"
	"github.com/elimity-com/scim/errors"
	"github.com/elimity-com/scim/optional"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// users handles the users of one request.
type users struct {
	*call
	resource resource
}

// Create implements scim.ResourceHandler.
func (h *users) Create(r *http.Request, given scim.ResourceAttributes) (scim.Resource, error) {
	ctx := r.Context()
	u := store.ProvisionedUser{ID: knowledge.NewID(), Active: true}
	if err := setUser(&u, object(given)); err != nil {
		return scim.Resource{}, h.refusal(ctx, err)
	}
	wanted, err := h.rolesOf(ctx, object(given))
	if err != nil {
		return scim.Resource{}, h.refusal(ctx, err)
	}
	if len(wanted) == 0 {
		if err := h.mayGive(ctx, h.cfg.DefaultRole); err != nil {
			return scim.Resource{}, h.refusal(ctx, err)
		}
	}
	stored, err := h.cfg.Store.AddProvisionedUser(ctx, h.Principal, u, wanted, h.cfg.DefaultRole)
	return h.answer(r, stored, err)
}

// Get implements scim.ResourceHandler.
func (h *users) Get(r *http.Request, id string) (scim.Resource, error) {
	u, err := h.cfg.Store.ProvisionedUser(r.Context(), h.Principal, id)
	return h.answer(r, u, err)
}

// GetAll implements scim.ResourceHandler.
func (h *users) GetAll(r *http.Request, params scim.ListRequestParams) (scim.Page, error) {
	ctx, q := r.Context(), offset(params)
	if params.FilterValidator != nil {
		asked := equals(params.FilterValidator.GetFilter())
		q = store.ProvisionedQuery{ID: asked["id"], Name: asked["username"], ExternalID: asked["externalid"]}
	}
	found, total, err := h.cfg.Store.ProvisionedUsers(ctx, h.Principal, q)
	if err != nil {
		return scim.Page{}, h.refusal(ctx, err)
	}
	all := make([]scim.Resource, 0, len(found))
	for _, u := range found {
		attributes, err := h.attributes(u)
		if err != nil {
			return scim.Page{}, h.refusal(ctx, err)
		}
		meta := metaOf(u.CreatedAt, u.UpdatedAt)
		if f := params.FilterValidator; f == nil || h.resource.matches(described(attributes, u.ID, u.ExternalID, meta), f.GetFilter()) {
			all = append(all, resourceOf(r, u.ID, u.ExternalID, attributes, meta))
		}
	}
	if params.FilterValidator != nil {
		return scim.Page{TotalResults: len(all), Resources: pageOf(all, params.StartIndex, params.Count)}, nil
	}
	return scim.Page{TotalResults: total, Resources: pageOf(all, 1, params.Count)}, nil
}

// Replace implements scim.ResourceHandler. A user keeps what only Cairn says of him, and whether
// he is active if the body does not say.
func (h *users) Replace(r *http.Request, id string, given scim.ResourceAttributes) (scim.Resource, error) {
	return h.change(r, id, func(before object) (object, error) {
		after := maps.Clone(object(given))
		if after[active] == nil {
			after[active] = before[active]
		}
		return after, nil
	})
}

// Patch implements scim.ResourceHandler.
func (h *users) Patch(r *http.Request, id string, operations []scim.PatchOperation) (scim.Resource, error) {
	return h.change(r, id, func(before object) (object, error) {
		return before, h.resource.apply(before, operations)
	})
}

// Delete implements scim.ResourceHandler.
func (h *users) Delete(r *http.Request, id string) error {
	return h.refusal(r.Context(), h.cfg.Store.RemoveProvisionedUser(r.Context(), h.Principal, id))
}

// change stores other attributes of a user. next is given those that he has, which it may
// change, and runs several times.
func (h *users) change(r *http.Request, id string, next func(object) (object, error)) (scim.Resource, error) {
	ctx := r.Context()
	present, err := h.cfg.Store.ProvisionedUser(ctx, h.Principal, id)
	if err != nil {
		return scim.Resource{}, h.refusal(ctx, err)
	}
	after, err := h.after(present, next)
	if err != nil {
		return scim.Resource{}, h.refusal(ctx, err)
	}
	wanted, err := h.changedRoles(ctx, present, after)
	if err != nil {
		return scim.Resource{}, h.refusal(ctx, err)
	}
	stored, err := h.cfg.Store.ChangeProvisionedUser(ctx, h.Principal, id, func(u *store.ProvisionedUser) ([]string, error) {
		after, err := h.after(*u, next)
		if err != nil {
			return nil, err
		}
		return wanted, setUser(u, after)
	})
	return h.answer(r, stored, err)
}

// after returns the attributes that a user has after a change.
func (h *users) after(u store.ProvisionedUser, next func(object) (object, error)) (object, error) {
	attributes, err := h.attributes(u)
	if err != nil {
		return nil, err
	}
	if u.ExternalID != "" {
		attributes[externalID] = u.ExternalID
	}
	return next(attributes)
}

// attributes returns the attributes of a user, as clients see them but for the id.
func (h *users) attributes(u store.ProvisionedUser) (object, error) {
	attributes := object{}
	if err := json.Unmarshal([]byte(u.Attributes), &attributes); err != nil {
		return nil, fmt.Errorf("decode the attributes of user %s: %w", u.ID, err)
	}
	attributes[userName], attributes[active] = u.Name, u.Active
	var in []any
	for _, g := range u.Groups {
		in = append(in, object{"value": g.ID, "display": g.Name, "type": "direct", "$ref": h.Base + "/Groups/" + g.ID})
	}
	if len(in) > 0 {
		attributes[groups] = in
	}
	return attributes, nil
}

// setUser sets what attributes say of a user.
func setUser(u *store.ProvisionedUser, attributes object) error {
	name, _ := attributes[userName].(string)
	if err := checkName(userName, name); err != nil {
		return err
	}
	external, _ := attributes[externalID].(string)
	if len(external) > maxName {
		return knowledge.Invalid(externalID, "must be at most %d bytes", maxName)
	}
	u.Name, u.ExternalID = name, external
	if isActive, ok := attributes[active].(bool); ok {
		u.Active = isActive
	}
	rest := object{}
	for name, value := range attributes {
		switch name {
		case userName, externalID, active, groups, "id", "meta", "schemas":
		default:
			if value = listed(name, value); !isEmpty(value) {
				rest[name] = value
			}
		}
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return errors.ScimErrorInvalidValue
	}
	if len(text) > maxAttributes {
		return knowledge.Invalid("body", "has more than %d bytes of attributes", maxAttributes)
	}
	u.Attributes = string(text)
	return nil
}

func (h *users) answer(r *http.Request, u store.ProvisionedUser, err error) (scim.Resource, error) {
	if err != nil {
		return scim.Resource{}, h.refusal(r.Context(), err)
	}
	attributes, err := h.attributes(u)
	if err != nil {
		return scim.Resource{}, h.refusal(r.Context(), err)
	}
	return resourceOf(r, u.ID, u.ExternalID, attributes, metaOf(u.CreatedAt, u.UpdatedAt)), nil
}

// resourceOf returns a resource as the request asks for it.
func resourceOf(r *http.Request, id, external string, attributes object, meta scim.Meta) scim.Resource {
	one := scim.Resource{ID: id, Attributes: scim.ResourceAttributes(narrowed(r, attributes)), Meta: meta}
	if external != "" {
		one.ExternalID = optional.NewString(external)
	}
	return one
}
