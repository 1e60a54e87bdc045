package source

import (
	"context"
	"errors"
	"slices"
)

// TokenAll is the token of the first page of a listing of everything, whatever the
// cursor is.
const TokenAll = "all"

// ErrExpired is returned by Source.List of a place that is followed if the place does not
// know the cursor or the token any more. A listing from TokenAll on is then needed.
var ErrExpired = errors.New("the place has forgotten the changes since the cursor")

// Follow describes a place that is followed: a Source is opened for each run, and lists
// what has changed since the cursor of the run before.
//
// The Source lists an object with a Key that stays when it is moved or renamed, where the
// place has one, with its Name, and with its Access if Mirror is set. A listing may name an
// object twice, also as removed: what it names last counts. One page names an object once. A
// listing is one of everything or one of changes from its first page on.
type Follow struct {
	Type    Type
	Options Settings
	Scope   Scope
	// Connection is the id of the connection. It is part of the names of groups that another
	// service may have too.
	Connection string
	// Credentials are the secret of the connection.
	Credentials string
	// Mirror asks for the Access of each object.
	Mirror bool
	// Cursor is where the last completed run ended, "" = there was none.
	Cursor string
	// State keeps what a listing needs between its pages, and Previous is that of the last
	// completed run, nil if there was none. Crawls need them; nil = nothing is kept.
	State, Previous State
	// PageSize bounds the objects of a page. Defaults to MaxPage.
	PageSize int
}

// Directory is a Source of a service that tells who is in the groups that the Access of its
// objects names.
type Directory interface {
	// Members returns the people in a group and in the groups in it, as Access.Users names
	// them. complete is false if there are others, whom the service does not tell. A group that
	// the service does not tell is CodeNotFound, CodeForbidden or CodeTooLarge.
	Members(ctx context.Context, group string) (members []string, complete bool, err error)
}

// TriedDirectory is a Directory that needs more than its Source does.
type TriedDirectory interface {
	Directory
	// TryDirectory reports whether the service tells members to the connection. Its error tells
	// the administrator what to change.
	TryDirectory(ctx context.Context) error
}

// Settings are the settings of a connection. Each type accepts those that it lists.
type Settings struct {
	// URL is the address of the service.
	URL string `json:"url,omitempty"`
	// Username is who signs in with the secret.
	Username string `json:"username,omitempty"`
	// Subject is the user of Google Workspace for whom a service account acts.
	Subject string `json:"subject,omitempty"`
	// Tenant and ClientID name an application of Microsoft Entra.
	Tenant   string `json:"tenant,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	// Auth is how the user signs in, "" = by a password.
	Auth string `json:"auth,omitempty"`
}

// Scope is the part of a place that a sync follows. Each type accepts those fields that it
// lists.
type Scope struct {
	Site       string `json:"site,omitempty"`
	Drive      string `json:"drive,omitempty"`
	Folder     string `json:"folder,omitempty"`
	Repository string `json:"repository,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Mailbox    string `json:"mailbox,omitempty"`
	Space      string `json:"space,omitempty"`
	Page       string `json:"page,omitempty"`
	Database   string `json:"database,omitempty"`
}

// Distinct returns names in their order, each once.
func Distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
