package check_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// drawn returns the variables that the command in .env.example draws.
func drawn(t *testing.T) []string {
	t.Helper()
	command := regexp.MustCompile(`(?m)^#\s+(\(umask.*)$`).FindSubmatch(readFile(t, ".env.example"))
	if command == nil {
		t.Fatal(".env.example has no command that draws the secrets")
	}
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", string(command[1]))
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(folder, ".env")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the drawn secrets: %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// load reads docker-compose.yml as docker compose config does.
func load(ctx context.Context, env, profiles []string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "docker-compose.yml")},
		cli.WithWorkingDirectory(root), cli.WithEnv(env), cli.WithProfiles(profiles))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}

func project(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	p, err := load(t.Context(), drawn(t), profiles)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeRefusesAMissingSecret(t *testing.T) {
	t.Parallel()
	env := drawn(t)
	for i, variable := range env {
		without := slices.Delete(slices.Clone(env), i, i+1)
		name, _, _ := strings.Cut(variable, "=")
		if _, err := load(t.Context(), without, nil); err == nil || !strings.Contains(err.Error(), ".env.example") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if _, err := load(t.Context(), slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(string(readFile(t, ".env.example"))) {
			if !strings.HasPrefix(line, "#") && !yield(strings.TrimSpace(line)) {
				return
			}
		}
	}), nil); err == nil {
		t.Error("the example works without secrets")
	}
}

func TestComposeServices(t *testing.T) {
	t.Parallel()
	p := project(t, "extras")
	awaited := map[string]bool{} // services that end
	for _, s := range p.Services {
		for name, d := range s.DependsOn {
			awaited[name] = awaited[name] || d.Condition == types.ServiceConditionCompletedSuccessfully
		}
	}
	for name, s := range p.Services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkPinned(t, s.Image)
			if s.Deploy == nil || s.Deploy.Resources.Limits == nil || s.Deploy.Resources.Limits.MemoryBytes == 0 || s.Deploy.Resources.Limits.NanoCPUs == 0 || s.Deploy.Resources.Limits.Pids == 0 {
				t.Error("it has no limits of memory, processors and processes")
			}
			if check := s.HealthCheck; !awaited[name] && (check == nil || len(check.Test) == 0 || check.StartPeriod == nil) {
				t.Error("it has no health check with a time to start")
			}
			if want := map[bool]string{true: "on-failure:5", false: "unless-stopped"}[awaited[name]]; s.Restart != want {
				t.Errorf("restart is %q, want %q", s.Restart, want)
			}
			for _, port := range s.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("port %s is published at %q", port.Published, port.HostIP)
				}
			}
			for _, c := range s.Configs {
				if _, err := os.Stat(p.Configs[c.Source].File); err != nil {
					t.Error(err)
				}
			}
			for variable, value := range s.Environment {
				if value != nil && strings.Contains(*value, "minioadmin") {
					t.Errorf("%s is a default password", variable)
				}
			}
		})
	}
	for _, name := range []string{"searxng", "ollama"} {
		if _, ok := project(t).Services[name]; ok {
			t.Errorf("%s runs without the profile extras", name)
		}
	}
}

// TestComposeExtras loads the lines of the configuration that are for the profile extras,
// and checks that the services which they name run with it.
func TestComposeExtras(t *testing.T) {
	t.Parallel()
	p := project(t, "extras")
	text, err := os.ReadFile(p.Configs["cairn"].File)
	before, extras, found := strings.Cut(string(text), "With --profile extras:\n")
	if err != nil || !found {
		t.Fatalf("the configuration has no lines for the profile extras: %v", err)
	}
	file := filepath.Join(t.TempDir(), "cairn.yaml")
	lines := regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(extras, "")
	if err := os.WriteFile(file, []byte(before+"\n"+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	configOf(t, file, environment(p.Services["migrate"]))
	for _, name := range []string{"ollama", "searxng"} {
		if !strings.Contains(lines, "http://"+name+":") || p.Services[name].Profiles == nil {
			t.Errorf("the lines do not name the service %s:\n%s", name, lines)
		}
	}
}

// roles are the services that run the cairn command.
func roles(p *types.Project) map[string]types.ServiceConfig {
	found := map[string]types.ServiceConfig{}
	for name, s := range p.Services {
		if s.Build != nil {
			found[name] = s
		}
	}
	return found
}

func TestComposeRoles(t *testing.T) {
	t.Parallel()
	p := project(t)
	var served []string
	for name, s := range roles(p) {
		served = append(served, queuesOf(s.Command)...)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkCommand(t, s.Command)
			if s.Build.Dockerfile != "deploy/Dockerfile" || (s.Build.Target == "worker") != slices.ContainsFunc(queuesOf(s.Command), parses) {
				t.Errorf("it runs the image %s of %s", s.Build.Target, s.Build.Dockerfile)
			}
			if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
				t.Error("it may write to its image, or has privileges")
			}
			c := configOf(t, p.Configs[s.Configs[0].Source].File, environment(s))
			if stop := time.Duration(*s.StopGracePeriod); stop < time.Duration(c.ShutdownSeconds)*time.Second+10*time.Second {
				t.Errorf("it is killed after %s; it stops within %d s", stop, c.ShutdownSeconds)
			}
			if name == "migrate" {
				return
			}
			if d := s.DependsOn["migrate"]; d.Condition != types.ServiceConditionCompletedSuccessfully {
				t.Error("it does not wait for the migration")
			}
			if !slices.Equal(s.HealthCheck.Test, []string{"CMD", "cairn", "health"}) {
				t.Errorf("its health check is %q", s.HealthCheck.Test)
			}
		})
	}
	if got := *p.Services["api"].Deploy.Replicas; got != 2 {
		t.Errorf("%d APIs", got)
	}
	checkQueues(t, served)
}

// parses reports whether the work of a queue needs the programs that read documents.
func parses(queue string) bool {
	return slices.Contains([]string{"parse", "bulk", "bulk-large"}, queue)
}

// environment returns the environment of a container.
func environment(s types.ServiceConfig) []string {
	var env []string
	for name, value := range s.Environment {
		if value != nil && name != "CAIRN_CONFIG" {
			env = append(env, name+"="+*value)
		}
	}
	return env
}

// TestComposeChecksTheStores holds that the hosts of the configuration are services, and
// that the migration waits for each of them.
func TestComposeChecksTheStores(t *testing.T) {
	t.Parallel()
	p := project(t)
	migrate := p.Services["migrate"]
	c := configOf(t, p.Configs["cairn"].File, environment(migrate))
	for _, address := range []string{c.Temporal.Address, c.Database.URL, c.Vector.URL, c.Blob.URL} {
		host := regexp.MustCompile(`(?:endpoint=http://|@|milvus://|^)([a-z0-9-]+):\d+`).FindStringSubmatch(address)
		if host == nil {
			t.Errorf("no service in %s", address)
			continue
		}
		s, ok := p.Services[host[1]]
		if _, shared := s.Networks["stores"]; !ok || !shared {
			t.Errorf("%s is no service in the network of the stores", host[1])
		}
		_, waits := migrate.DependsOn[host[1]]
		if host[1] == "minio" {
			_, waits = migrate.DependsOn["buckets"]
		}
		if !waits {
			t.Errorf("the migration does not wait for %s", host[1])
		}
	}
	if !p.Networks["stores"].Internal {
		t.Error("the stores have a way out")
	}
}
