package knowledge

import "encoding/json"

// UseLimits bound what a key, a user, a project or a workspace may use. A zero field means
// the default of the instance, which a request leaves out: it cannot send zero.
type UseLimits struct {
	RequestsPerMinute int     `json:"requestsPerMinute,omitempty" minimum:"1" maximum:"1000000" doc:"Requests in any sixty seconds"`
	TokensPerDay      int64   `json:"tokensPerDay,omitempty" minimum:"1" maximum:"1000000000000" doc:"Tokens of models, by the day in UTC"`
	Documents         int     `json:"documents,omitempty" minimum:"1" maximum:"1000000000" doc:"Documents that are kept"`
	Bytes             int64   `json:"bytes,omitempty" minimum:"1" maximum:"1000000000000000" doc:"The size of the originals that are kept"`
	CostPerDay        float64 `json:"costPerDay,omitempty" minimum:"0.000001" maximum:"1000000000" doc:"The price of tokens by models.prices, by the day in UTC"`
}

// Or returns the limits, with those of other where there are none.
func (l UseLimits) Or(other UseLimits) UseLimits {
	if l.RequestsPerMinute == 0 {
		l.RequestsPerMinute = other.RequestsPerMinute
	}
	if l.TokensPerDay == 0 {
		l.TokensPerDay = other.TokensPerDay
	}
	if l.Documents == 0 {
		l.Documents = other.Documents
	}
	if l.Bytes == 0 {
		l.Bytes = other.Bytes
	}
	if l.CostPerDay == 0 {
		l.CostPerDay = other.CostPerDay
	}
	return l
}

// Above returns the names of the limits that are above those of other, or missing where other
// has them.
func (l UseLimits) Above(other UseLimits) []string {
	var names []string
	for _, f := range []struct {
		name        string
		own, others float64
	}{
		{"requestsPerMinute", float64(l.RequestsPerMinute), float64(other.RequestsPerMinute)},
		{"tokensPerDay", float64(l.TokensPerDay), float64(other.TokensPerDay)},
		{"documents", float64(l.Documents), float64(other.Documents)},
		{"bytes", float64(l.Bytes), float64(other.Bytes)},
		{"costPerDay", l.CostPerDay, other.CostPerDay},
	} {
		if f.others > 0 && (f.own == 0 || f.own > f.others) {
			names = append(names, f.name)
		}
	}
	return names
}

// LimitsDay reports whether a limit of a day is set.
func (l UseLimits) LimitsDay() bool { return l.TokensPerDay > 0 || l.CostPerDay > 0 }

// LimitsStored reports whether what is kept is limited.
func (l UseLimits) LimitsStored() bool { return l.Documents > 0 || l.Bytes > 0 }

// Encode returns the limits as JSON, "" without any.
func (l UseLimits) Encode() string {
	if l == (UseLimits{}) {
		return ""
	}
	data, err := json.Marshal(l)
	if err != nil {
		panic(err) // numbers always marshal
	}
	return string(data)
}

// DecodeUseLimits reads what Encode wrote.
func DecodeUseLimits(text string) (l UseLimits, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &l)
	}
	return l, err
}

// AccountKind is whose use is counted.
type AccountKind string

// The kinds of accounts.
const (
	KeyAccount       AccountKind = "key"
	UserAccount      AccountKind = "user"
	ProjectAccount   AccountKind = "project"
	WorkspaceAccount AccountKind = "workspace"
	AgentAccount     AccountKind = "agent" // a published project, for the requests of its visitors alone
)

// Account is a key, a user, a project or a workspace to which use is counted, with its limits.
type Account struct {
	Kind   AccountKind `json:"kind"`
	ID     string      `json:"id"` // of a user what Principal.Owner returns
	Limits UseLimits   `json:"limits,omitzero"`
}

// Name names the account within its workspace.
func (a Account) Name() string { return string(a.Kind) + ":" + a.ID }

// What returns what a message calls the account.
func (a Account) What() string {
	switch a.Kind {
	case KeyAccount:
		return "this key"
	case UserAccount:
		return "this user"
	case ProjectAccount:
		return "this project"
	case AgentAccount:
		return "this agent"
	}
	return "this workspace"
}

// Accounts returns to whom the use of the principal is counted: its key and those that made it,
// its service account, its user, and the workspace. Limits are those that the key, the makers and
// the members have themselves.
func (p Principal) Accounts() []Account {
	c := p.claims
	if c.Workspace == "" {
		return nil
	}
	var list []Account
	if c.KeyID != "" {
		list = append(list, Account{KeyAccount, c.KeyID, c.KeyLimits})
	}
	for _, maker := range c.KeyMakers {
		list = append(list, Account{KeyAccount, maker.ID, maker.Limits})
	}
	if c.Service != "" {
		list = append(list, Account{UserAccount, "u:" + c.Service, c.ServiceLimits})
	}
	if c.User != "" || c.ExternalUser != "" {
		list = append(list, Account{UserAccount, p.Owner(), c.UserLimits})
	}
	return append(list, Account{Kind: WorkspaceAccount, ID: c.Workspace})
}

// KeyLimits are the limits of the principal's key.
func (p Principal) KeyLimits() UseLimits { return p.claims.KeyLimits }
