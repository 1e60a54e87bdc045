package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type membersCmd struct {
	List   membersListCmd   `cmd:"" help:"List members."`
	Show   membersShowCmd   `cmd:"" help:"Show a member, with the keys of a service account."`
	Add    membersAddCmd    `cmd:"" help:"Add a member, or replace what it has."`
	Remove membersRemoveCmd `cmd:"" help:"Remove a member."`
}

// Help returns an example of the commands.
func (membersCmd) Help() string {
	return "A member is a user of a JWT, by its sub, or a service account, which has keys.\n\nExample:\n\n    cairn members add ann --role editor --group legal"
}

type membersListCmd struct{ listFlags }

// Help returns the command's example.
func (membersListCmd) Help() string { return "Example:\n\n    cairn members list --json" }

// Run lists members.
func (l membersListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	members, err := pages(0, func(cursor string, limit int) (client.List[client.Member], error) {
		return c.Members(ctx, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Member]{Data: members})
	}
	rows := make([][]string, 0, len(members))
	for _, m := range members {
		ends := ""
		if m.ExpiresAt != nil {
			ends = l.when(a, *m.ExpiresAt)
		}
		rows = append(rows, []string{m.User, m.Kind, activity(m), strings.Join(m.Roles, ","), firstOf(m.ProjectID, "(all)"), strings.Join(groupsOf(m), ","), m.Clearance, ends})
	}
	return l.table(a, listing{
		none:   "no members; cairn members add adds one",
		header: []string{"USER", "KIND", "ACTIVE", "ROLES", "PROJECT", "GROUPS", "CLEARANCE", "ENDS"},
		rows:   rows,
		spare:  []string{"CLEARANCE", "ENDS", "GROUPS", "PROJECT", "ACTIVE"},
	})
}

// activity reports in a word whether a member is let in.
func activity(m client.Member) string {
	if m.Active {
		return "yes"
	}
	return "no"
}

// groupsOf returns the groups of a member: those that SCIM has given it behind its own.
func groupsOf(m client.Member) []string {
	groups := slices.Clone(m.Groups)
	for _, group := range m.ProvisionedGroups {
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

type membersShowCmd struct {
	clientFlags
	User string `arg:"" help:"The member."`
}

// Help returns the command's example.
func (membersShowCmd) Help() string {
	return "A member that is not active was deactivated by the identity provider, and is let in nowhere.\n\nExample:\n\n    cairn members show ann"
}

// Run shows a member.
func (s membersShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	m, err := c.Member(ctx, s.User)
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, m)
	}
	ends := ""
	if m.ExpiresAt != nil {
		ends = terminal.Time(*m.ExpiresAt)
	}
	var keys []string
	for _, key := range m.Keys {
		keys = append(keys, key.Name+" ("+key.Prefix+")")
	}
	return terminal.Fields(a.stdout, "user", m.User, "kind", m.Kind, "active", activity(m), "roles", strings.Join(m.Roles, ", "), "project", firstOf(m.ProjectID, "(all)"),
		"groups", strings.Join(m.Groups, ", "), "groups of SCIM", strings.Join(m.ProvisionedGroups, ", "), "clearance", firstOf(m.Clearance, "(not given)"), "ends", ends, "keys", strings.Join(keys, ", "))
}

type membersAddCmd struct {
	clientFlags
	User      string        `arg:"" help:"The sub of the user's JWT, or the name of the service account."`
	Service   bool          `help:"It is a service account: a program, which has keys."`
	Role      []string      `placeholder:"ROLE" help:"A role: reader, editor, admin, auditor, or one of cairn roles list; may be repeated."`
	Project   string        `short:"p" help:"Hold the member to this project."`
	Group     []string      `placeholder:"GROUP" help:"A group that the access of documents may name; may be repeated."`
	Clearance string        `placeholder:"LEVEL" help:"The level of classification up to which the member reaches documents, such as confidential."`
	Limit     []string      `placeholder:"NAME=VALUE" help:"What the member may use: requestsPerMinute, tokensPerDay, documents, bytes or costPerDay, and a number; may be repeated."`
	Expires   time.Duration `placeholder:"DURATION" help:"The membership ends after this time, such as 720h."`
}

// Help returns the command's example.
func (membersAddCmd) Help() string {
	return "It replaces all that an earlier member of this name had. Roles and groups of a JWT add to those of the member.\n\nExample:\n\n" +
		"    cairn members add ann --role editor --group legal --expires 720h\n" +
		"    cairn members add nightly-report --service --role reader\n" +
		"    cairn keys create report --member nightly-report"
}

// Run adds a member.
func (m membersAddCmd) Run(ctx context.Context, a *app) error {
	c, err := m.connectProject(ctx, &m.Project)
	if err != nil {
		return err
	}
	request := client.NewMember{Roles: m.Role, ProjectID: m.Project, Groups: m.Group, Clearance: m.Clearance}
	if m.Service {
		request.Kind = "service"
	}
	if request.ExpiresAt, err = endAfter(m.Expires); err != nil {
		return err
	}
	if request.Limits, err = parseLimits(m.Limit); err != nil {
		return err
	}
	stored, err := c.PutMember(ctx, m.User, request)
	if err != nil {
		return err
	}
	if m.forPrograms() {
		return m.write(a, stored)
	}
	_, err = fmt.Fprintln(a.stdout, "stored member", stored.User)
	return err
}

// endAfter returns when a time is over that begins now; nil = never.
func endAfter(d time.Duration) (*time.Time, error) {
	if d < 0 {
		return nil, wrongUse("--expires must be positive")
	}
	if d == 0 {
		return nil, nil
	}
	end := time.Now().Add(d).UTC()
	return &end, nil
}

type membersRemoveCmd struct {
	clientFlags
	User string `arg:"" help:"The member."`
}

// Help returns the command's example.
func (membersRemoveCmd) Help() string {
	return "The user keeps what the JWT says. The keys of a service account are revoked.\n\nExample:\n\n    cairn members remove ann"
}

// Run removes a member.
func (r membersRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	if err := c.RemoveMember(ctx, r.User); err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, map[string]string{"user": r.User})
	}
	_, err = fmt.Fprintln(a.stdout, "removed member", r.User)
	return err
}
