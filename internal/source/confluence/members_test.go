package confluence_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/confluence"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// groupOf returns the name of a group in the access of documents.
func (p *place) groupOf(name string) string {
	if p.Cloud {
		name = "group " + name
	}
	return "confluence:" + p.follow.Connection + ":" + name
}

func (p *place) directory() source.Directory {
	p.Helper()
	s, err := confluence.New(p.follow, sourcetest.Local(p))
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// TestMembers has groups in groups, in a circle, in the cloud and in a data center.
func TestMembers(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		p := newPlace(t, cloud, true)
		p.World.Join("staff", "crew", "ann@example.org")
		p.World.Join("crew", "bob@example.org", "eve@example.org", "staff", "zoe@example.org")
		p.World.Join("nobody")
		for name, want := range map[string][]string{"staff": {"ann@example.org", "bob@example.org", "eve@example.org", "zoe@example.org"}, "nobody": nil} {
			members, complete, err := p.directory().Members(t.Context(), p.groupOf(name))
			if diff := cmp.Diff(want, members); diff != "" || !complete || err != nil {
				t.Errorf("cloud %v, %s: complete %t, %v, members (-want +got):\n%s", cloud, name, complete, err, diff)
			}
		}
		if _, _, err := p.directory().Members(t.Context(), p.groupOf("gone")); !knowledge.IsCode(err, knowledge.CodeNotFound) {
			t.Errorf("cloud %v: a group that is gone: %v", cloud, err)
		}
		other := p.groupOf("staff")
		p.follow.Connection = "c2"
		if members, _, err := p.directory().Members(t.Context(), other); !knowledge.IsCode(err, knowledge.CodeNotFound) || len(members) > 0 {
			t.Errorf("cloud %v: the group of another connection has %v, %v", cloud, members, err)
		}
	}
}

// TestMembersWithoutMail has accounts whose mail addresses the cloud hides: they count as
// members who are not told. A data center shows no mail addresses, and names users.
func TestMembersWithoutMail(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		p := newPlace(t, cloud, true)
		p.Mails = false
		if members, complete, err := p.directory().Members(t.Context(), p.groupOf("staff")); complete == cloud || len(members) != 2 || err != nil {
			t.Errorf("cloud %v: complete %t, %v, %v", cloud, complete, members, err)
		}
	}
}

// TestGroupsOfTwoConnections has a group of one name in two places: its names differ.
func TestGroupsOfTwoConnections(t *testing.T) {
	t.Parallel()
	named := func(connection string) []string {
		p := newPlace(t, false, true)
		p.follow.Connection = connection
		page := p.World.Create(0, "Open", false, "text")
		list, _ := p.mustList()
		return list["id:"+strconv.Itoa(page)].Access.Groups
	}
	if one, other := named("c1"), named("c2"); len(one) != 1 || len(other) != 1 || one[0] == other[0] || one[0] == "staff" {
		t.Errorf("they are %v and %v", one, other)
	}
}

var _ source.Directory = (*confluence.Source)(nil)
