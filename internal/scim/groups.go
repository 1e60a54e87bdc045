package scim

import (
	"cmp"
	"context"
	"net/http"

	scim "github.com/elimity-com/scim"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// groupHandler handles the groups of one request.
type groupHandler struct {
	*call
	resource resource
}

// Create implements scim.ResourceHandler.
func (h *groupHandler) Create(r *http.Request, given scim.ResourceAttributes) (scim.Resource, error) {
	g := store.ProvisionedGroup{ID: knowledge.NewID()}
	if err := setGroup(&g, object(given)); err != nil {
		return scim.Resource{}, h.refusal(r.Context(), err)
	}
	stored, err := h.cfg.Store.AddProvisionedGroup(r.Context(), h.Principal, g)
	return h.answer(r, stored, err)
}

// Get implements scim.ResourceHandler.
func (h *groupHandler) Get(r *http.Request, id string) (scim.Resource, error) {
	g, err := h.cfg.Store.ProvisionedGroup(r.Context(), h.Principal, id)
	return h.answer(r, g, err)
}

// GetAll implements scim.ResourceHandler.
func (h *groupHandler) GetAll(r *http.Request, params scim.ListRequestParams) (scim.Page, error) {
	ctx, q := r.Context(), offset(params)
	withUsers := !namesIn(r, "excludedAttributes")[members]
	if params.FilterValidator != nil {
		asked := equals(params.FilterValidator.GetFilter())
		q = store.ProvisionedQuery{ID: asked["id"], Name: asked["displayname"], ExternalID: asked["externalid"], User: cmp.Or(asked["members.value"], asked["members"])}
		withUsers = true // a filter may ask for them
	}
	found, total, err := h.cfg.Store.ProvisionedGroups(ctx, h.Principal, q, withUsers)
	if err != nil {
		return scim.Page{}, h.refusal(ctx, err)
	}
	all := make([]scim.Resource, 0, len(found))
	for _, g := range found {
		attributes, meta := h.attributes(g), metaOf(g.CreatedAt, g.UpdatedAt)
		if f := params.FilterValidator; f == nil || h.resource.matches(described(attributes, g.ID, g.ExternalID, meta), f.GetFilter()) {
			all = append(all, resourceOf(r, g.ID, g.ExternalID, attributes, meta))
		}
	}
	if params.FilterValidator != nil {
		return scim.Page{TotalResults: len(all), Resources: pageOf(all, params.StartIndex, params.Count)}, nil
	}
	return scim.Page{TotalResults: total, Resources: pageOf(all, 1, params.Count)}, nil
}

// Replace implements scim.ResourceHandler.
func (h *groupHandler) Replace(r *http.Request, id string, given scim.ResourceAttributes) (scim.Resource, error) {
	return h.change(r.Context(), r, id, func(object) (object, error) { return object(given), nil })
}

// Patch implements scim.ResourceHandler.
func (h *groupHandler) Patch(r *http.Request, id string, operations []scim.PatchOperation) (scim.Resource, error) {
	return h.change(r.Context(), r, id, func(before object) (object, error) {
		return before, h.resource.apply(before, operations)
	})
}

// Delete implements scim.ResourceHandler.
func (h *groupHandler) Delete(r *http.Request, id string) error {
	return h.refusal(r.Context(), h.cfg.Store.RemoveProvisionedGroup(r.Context(), h.Principal, id))
}

// change stores other attributes of a group. next is given those that it has, which it may
// change, and runs several times.
func (h *groupHandler) change(ctx context.Context, r *http.Request, id string, next func(object) (object, error)) (scim.Resource, error) {
	stored, err := h.cfg.Store.ChangeProvisionedGroup(ctx, h.Principal, id, func(g *store.ProvisionedGroup) error {
		before := h.attributes(*g)
		if g.ExternalID != "" {
			before[externalID] = g.ExternalID
		}
		after, err := next(before)
		if err != nil {
			return err
		}
		return setGroup(g, after)
	})
	return h.answer(r, stored, err)
}

// attributes returns the attributes of a group, as clients see them but for the id.
func (h *groupHandler) attributes(g store.ProvisionedGroup) object {
	attributes := object{displayName: g.Name}
	var list []any
	for _, u := range g.Users {
		list = append(list, object{"value": u.ID, "display": u.Name, "type": "User", "$ref": h.Base + "/Users/" + u.ID})
	}
	if len(list) > 0 {
		attributes[members] = list
	}
	return attributes
}

// setGroup sets what attributes say of a group.
func setGroup(g *store.ProvisionedGroup, attributes object) error {
	name, _ := attributes[displayName].(string)
	if err := checkName(displayName, name); err != nil {
		return err
	}
	external, _ := attributes[externalID].(string)
	if len(external) > maxName {
		return knowledge.Invalid(externalID, "must be at most %d bytes", maxName)
	}
	g.Name, g.ExternalID, g.Users = name, external, nil
	for _, value := range listOf(attributes[members]) {
		element, _ := value.(object)
		id, _ := element["value"].(string)
		if id == "" {
			return knowledge.Invalid(members, "needs the id of a user as value")
		}
		g.Users = append(g.Users, store.ProvisionedRef{ID: id})
	}
	return nil
}

func (h *groupHandler) answer(r *http.Request, g store.ProvisionedGroup, err error) (scim.Resource, error) {
	if err != nil {
		return scim.Resource{}, h.refusal(r.Context(), err)
	}
	return resourceOf(r, g.ID, g.ExternalID, h.attributes(g), metaOf(g.CreatedAt, g.UpdatedAt)), nil
}
