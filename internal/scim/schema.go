package scim

import (
	"slices"
	"strings"

	"github.com/elimity-com/scim/optional"
	"github.com/elimity-com/scim/schema"
)

// Names of attributes that stand in columns of their own.
const (
	userName    = "userName"
	displayName = "displayName"
	externalID  = "externalId"
	active      = "active"
	members     = "members"
	groups      = "groups"
	roles       = "roles"
)

// notKept are the attributes of the standard that Cairn has no use for and does not store.
func notKept() []string {
	return []string{"password", "photos", "ims", "entitlements", "x509Certificates", "profileUrl"}
}

// schemas are the attributes of the resources.
type schemas struct {
	user, enterprise, group schema.Schema
}

func newSchemas() schemas {
	user := schema.CoreUserSchema()
	user.Attributes = slices.DeleteFunc(user.Attributes, func(a schema.CoreAttribute) bool { return slices.Contains(notKept(), a.Name()) })
	return schemas{user: user, enterprise: schema.ExtensionEnterpriseUser(), group: groupSchema()}
}

// groupSchema is that of the standard, but for the members: they are users alone, and Cairn
// says how they are called.
func groupSchema() schema.Schema {
	group := schema.CoreGroupSchema()
	immutable := schema.AttributeMutabilityImmutable()
	group.Attributes[1] = schema.ComplexCoreAttribute(schema.ComplexParams{
		Name: members, MultiValued: true, Description: optional.NewString("The users of the group"),
		SubAttributes: []schema.SimpleParams{
			schema.SimpleStringParams(schema.StringParams{Name: "value", Mutability: immutable, Description: optional.NewString("The id of a user")}),
			schema.SimpleReferenceParams(schema.ReferenceParams{Name: "$ref", Mutability: immutable, ReferenceTypes: []schema.AttributeReferenceType{"User"}}),
			schema.SimpleStringParams(schema.StringParams{Name: "type", Mutability: immutable, CanonicalValues: []string{"User"}}),
			schema.SimpleStringParams(schema.StringParams{Name: "display", Mutability: schema.AttributeMutabilityReadOnly(), Description: optional.NewString("The userName")}),
		},
	})
	return group
}

// resource is a schema with its extensions and the attributes that every resource has.
type resource struct {
	core       schema.Schema
	extensions []schema.Schema
}

func newResource(core schema.Schema, extensions ...schema.Schema) resource {
	core.Attributes = slices.Concat(core.Attributes, schema.CommonAttributes())
	return resource{core, extensions}
}

// attribute returns the attribute that a path names and the schema that has it.
func (r resource) attribute(uri, name string) (schema.CoreAttribute, schema.Schema, bool) {
	for _, s := range append([]schema.Schema{r.core}, r.extensions...) {
		if uri != "" && !strings.EqualFold(uri, s.ID) {
			continue
		}
		if a, ok := s.Attributes.ContainsAttribute(name); ok {
			return a, s, true
		}
	}
	return schema.CoreAttribute{}, schema.Schema{}, false
}

// isExtension reports whether a schema is one of the extensions, whose attributes stand in an
// object of its name.
func (r resource) isExtension(s schema.Schema) bool { return s.ID != r.core.ID }
