// Package scim serves SCIM 2.0 (RFC 7643, RFC 7644), with which an identity provider
// provisions the people and the groups of a workspace. A user is the member of his userName,
// and a group is a name that the access of documents may have.
//
// Module elimity-com/scim validates bodies, paths and filters, and writes answers. This package
// brings bodies into the form that the standard asks for (Entra ID sends booleans as texts, and
// values alone where an object is needed), applies changes to attributes, evaluates filters, and
// decides which roles a user has. It authenticates nobody: the caller hands it the principal.
package scim
