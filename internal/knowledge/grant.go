package knowledge

import "time"

// GrantEffect is what a grant does.
type GrantEffect string

// The effects of grants. Where several apply, GrantDeny wins.
const (
	GrantAllow GrantEffect = "allow"
	GrantDeny  GrantEffect = "deny"
)

// GrantPermission is what a grant is about.
type GrantPermission string

// The permissions of grants. To allow writing allows reading too, and to deny reading denies
// writing too.
const (
	GrantRead  GrantPermission = "read"
	GrantWrite GrantPermission = "write"
)

// The kinds of the subjects and the objects of grants, as they begin their tokens.
const (
	SubjectUser    = "u:"
	SubjectGroup   = "g:"
	SubjectProject = "p:"
	ObjectDocument = "d:"
	ObjectTag      = "t:"
	ObjectProject  = "p:"
)

// Grant is a rule of a workspace: it allows or denies the readers that its subject names what
// they may do with the documents that its object names.
type Grant struct {
	ID         string
	Workspace  string
	Project    string // of the object; "" = a tag, in every project
	Subject    string // a token: SubjectUser, SubjectGroup or SubjectProject and a name
	Object     string // a token: ObjectDocument, ObjectTag or ObjectProject and a name
	Effect     GrantEffect
	Permission GrantPermission
	Reason     string
	CreatedBy  string // as Principal.Owner names it
	ExpiresAt  time.Time
	CreatedAt  time.Time
}

// Objects are the documents that grants name: single ones, those with a tag, and those of a
// project.
type Objects struct{ Documents, Tags, Projects []string }

// Add adds the object of a token.
func (o *Objects) Add(token string) {
	if len(token) < len(ObjectTag) {
		return
	}
	switch kind, name := token[:len(ObjectTag)], token[len(ObjectTag):]; kind {
	case ObjectDocument:
		o.Documents = append(o.Documents, name)
	case ObjectTag:
		o.Tags = append(o.Tags, name)
	case ObjectProject:
		o.Projects = append(o.Projects, name)
	}
}

// IsEmpty reports whether they name no document.
func (o Objects) IsEmpty() bool { return len(o.Documents)+len(o.Tags)+len(o.Projects) == 0 }

// Granted is what the grants of a principal open to it and hide from it at one moment, for
// searches.
type Granted struct{ Allowed, Denied Objects }
