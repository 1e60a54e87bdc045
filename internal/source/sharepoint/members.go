package sharepoint

import (
	"context"
	"strings"

	"github.com/cairn-rag/cairn/internal/source"
)

// maxMembers bounds the people and groups in a group that are read.
const maxMembers = 200_000

// member is somebody or something in a group. Graph leaves the names out that the application
// may not read.
type member struct {
	Type  string `json:"@odata.type"`
	Email string `json:"mail"`
	Login string `json:"userPrincipalName"`
}

// Members implements source.Directory. Graph lists those in the groups in a group, too, each
// once, so that neither depth nor cycles matter.
func (s *Source) Members(ctx context.Context, group string) (members []string, complete bool, err error) {
	list, err := all[member](ctx, s.client, "groups/"+escape(group)+"/transitiveMembers?$select=id,mail,userPrincipalName&$top=999", maxMembers)
	if err != nil {
		return nil, false, err
	}
	complete = true
	for _, m := range list {
		if m.Type != "#microsoft.graph.user" {
			continue
		}
		before := len(members)
		for _, name := range []string{m.Email, m.Login} {
			if name != "" {
				members = append(members, strings.ToLower(name))
			}
		}
		complete = complete && len(members) > before
	}
	return source.Distinct(members), complete, nil
}

// needs are the application permissions of Graph for permissions mirror, each with those that
// include it: with fewer, an application would be told some of the rights only.
func needs() [][]string {
	return [][]string{
		{roleFullControl},
		{"GroupMember.Read.All", "GroupMember.ReadWrite.All", "Group.Read.All", "Group.ReadWrite.All", "Directory.Read.All", "Directory.ReadWrite.All"},
		{"User.ReadBasic.All", "User.Read.All", "User.ReadWrite.All", "Directory.Read.All", "Directory.ReadWrite.All"},
	}
}

// mayMirror refuses an application that may not read who may see files.
func (c *client) mayMirror(ctx context.Context) error {
	return c.require(ctx, "read who may see files and who is in groups (permissions mirror)", needs()...)
}
