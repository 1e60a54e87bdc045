package drive_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/drive"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// openDirectory opens a fake of Google as a new process does.
func openDirectory(t *testing.T, fake *sourcetest.Drive) source.Directory {
	t.Helper()
	s, err := drive.New(source.Follow{
		Options: source.Settings{URL: "http://drive.test", Subject: "ann@example.org"}, Credentials: fake.Account(), Mirror: true,
	}, sourcetest.Local(fake))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMembers has groups in groups, in a circle, and one in which is the whole organisation.
func TestMembers(t *testing.T) {
	t.Parallel()
	fake := sourcetest.NewDrive(sourcetest.NewWorld("ann@example.org"), newKey(t))
	fake.World.Join("staff", "crew", "ann@example.org")
	fake.World.Join("crew", "bob@example.org", "night", "eve@example.org")
	fake.World.Join("night", "staff", "zoe@example.org")
	fake.World.Join("house", sourcetest.Everybody, "guest@example.com")
	fake.World.Join("nobody")
	directory := openDirectory(t, fake)
	for group, want := range map[string]struct {
		members  []string
		complete bool
	}{
		"staff":  {[]string{"ann@example.org", "bob@example.org", "eve@example.org", "zoe@example.org"}, true},
		"house":  {[]string{"guest@example.com"}, false},
		"nobody": {nil, true},
	} {
		members, complete, err := directory.Members(t.Context(), group)
		if diff := cmp.Diff(want.members, members); diff != "" || complete != want.complete || err != nil {
			t.Errorf("%s: complete %t, %v, members (-want +got):\n%s", group, complete, err, diff)
		}
	}
}

// TestMembersThatAreNotTold has the refusals of Google: those by which a group is not told, which
// fail no run, and those by which it is asked again.
func TestMembersThatAreNotTold(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, c := range map[string]struct {
		group, reason string
		undelegated   bool
		want          knowledge.Code
	}{
		"a group that is not there":           {"none", "", false, knowledge.CodeNotFound},
		"a user who may not read groups":      {"staff", "insufficientPermissions", false, knowledge.CodeForbidden},
		"a group of another organisation":     {"staff", "forbidden", false, knowledge.CodeForbidden},
		"an API that is not enabled":          {"staff", "accessNotConfigured", false, knowledge.CodeForbidden},
		"a scope that is not delegated":       {"staff", "", true, knowledge.CodeForbidden},
		"too many requests":                   {"staff", "quotaExceeded", false, knowledge.CodeRateLimited},
		"too many requests of the user":       {"staff", "userRateLimitExceeded", false, knowledge.CodeRateLimited},
		"too many requests in a short period": {"staff", "rateLimitExceeded", false, knowledge.CodeRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := sourcetest.NewDrive(sourcetest.NewWorld("ann@example.org"), key)
			fake.World.Join("staff", "bob@example.org")
			fake.Untold, fake.Undelegated = c.reason, c.undelegated
			fake.World.Create(0, "a.txt", false, "a")
			directory := openDirectory(t, fake)
			if members, _, err := directory.Members(t.Context(), c.group); !knowledge.IsCode(err, c.want) || len(members) > 0 {
				t.Errorf("its members are %v, %v; want the code %s", members, err, c.want)
			}
			page, err := directory.(source.Source).List(t.Context(), "")
			if err != nil || len(page.Objects) != 1 || page.Objects[0].Access == nil {
				t.Errorf("the files beside it are %+v, %v", page.Objects, err)
			}
		})
	}
}

// TestTryDirectory has a service account that may read groups, and those that may not, whose
// administrator is told the scope.
func TestTryDirectory(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, c := range map[string]struct {
		subject, untold string
		undelegated     bool
		want            knowledge.Code
	}{
		"it may":                         {"ann@example.org", "", false, ""},
		"its scope is not delegated":     {"ann@example.org", "", true, knowledge.CodeForbidden},
		"its API is not enabled":         {"ann@example.org", "accessNotConfigured", false, knowledge.CodeForbidden},
		"its user may not read groups":   {"ann@example.org", "insufficientPermissions", false, knowledge.CodeForbidden},
		"it acts for nobody":             {"", "", false, knowledge.CodeForbidden},
		"it is asked for fewer requests": {"ann@example.org", "quotaExceeded", false, knowledge.CodeRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := sourcetest.NewDrive(sourcetest.NewWorld("ann@example.org"), key)
			fake.Untold, fake.Undelegated = c.untold, c.undelegated
			s, err := drive.New(source.Follow{Options: source.Settings{URL: "http://drive.test", Subject: c.subject}, Credentials: fake.Account(), Mirror: true}, sourcetest.Local(fake))
			if err != nil {
				t.Fatal(err)
			}
			err = s.TryDirectory(t.Context())
			if c.want == "" && err != nil || c.want != "" && !knowledge.IsCode(err, c.want) {
				t.Errorf("the check says %v, want the code %q", err, c.want)
			}
			if c.want == knowledge.CodeForbidden && !strings.Contains(err.Error(), "delegate the scope https://www.googleapis.com/auth/admin.directory.group.member.readonly") {
				t.Errorf("the administrator is told %v", err)
			}
		})
	}
}

var (
	_ source.Source         = (*drive.Source)(nil)
	_ source.TriedDirectory = (*drive.Source)(nil)
)
