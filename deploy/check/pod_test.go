package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// pod is the template of a Deployment or a Job.
type pod struct {
	name   string
	hook   bool // it runs before the other objects exist
	labels map[string]string
	spec   core.PodSpec
}

func (p pod) container() core.Container { return p.spec.Containers[0] }

func (o objects) pods() []pod {
	var all []pod
	for _, d := range o.deployments {
		all = append(all, pod{d.Name, false, d.Spec.Template.Labels, d.Spec.Template.Spec})
	}
	for _, j := range o.jobs {
		all = append(all, pod{j.Name, j.Annotations["helm.sh/hook"] == "pre-install,pre-upgrade", j.Spec.Template.Labels, j.Spec.Template.Spec})
	}
	return all
}

// checkPods holds the profile "restricted" of the pod security standards, and what else
// every pod has.
func (o objects) checkPods(t *testing.T) {
	t.Helper()
	if len(o.jobs) != 1 || len(o.deployments) < 2 {
		t.Fatalf("%d jobs, %d deployments", len(o.jobs), len(o.deployments))
	}
	for _, p := range o.pods() {
		s, c := p.spec.SecurityContext, p.container()
		checkPinned(t, c.Image)
		checkCommand(t, c.Args)
		if s == nil || !*s.RunAsNonRoot || *s.RunAsUser != 10001 || *s.FSGroup != 10001 || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: security of the pod %+v", p.name, s)
		}
		if x := c.SecurityContext; x == nil || *x.AllowPrivilegeEscalation || !*x.ReadOnlyRootFilesystem || !slices.Equal(x.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s: security of the container %+v", p.name, x)
		}
		if *p.spec.AutomountServiceAccountToken || *p.spec.EnableServiceLinks {
			t.Errorf("%s: it has a token, or variables of services", p.name)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s: resources %+v", p.name, c.Resources)
		}
		writable := map[string]bool{}
		for _, m := range c.VolumeMounts {
			writable[m.MountPath] = !m.ReadOnly
		}
		if !writable["/tmp"] || !writable["/var/lib/cairn"] || writable["/etc/cairn"] {
			t.Errorf("%s: mounts %v", p.name, writable)
		}
		if !p.hook {
			checkProbes(t, p)
		}
	}
}

func checkProbes(t *testing.T, p pod) {
	t.Helper()
	c := p.container()
	for name, probe := range map[string]*core.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet.Path != name || !isRoute(t, name) {
			t.Errorf("%s: probe of %s", p.name, name)
			continue
		}
		if !slices.ContainsFunc(c.Ports, func(port core.ContainerPort) bool {
			return port.Name == probe.HTTPGet.Port.StrVal && port.ContainerPort == 8080
		}) {
			t.Errorf("%s: no port %s", p.name, probe.HTTPGet.Port.StrVal)
		}
	}
	// The start waits a minute for the stores.
	if s := c.StartupProbe; s == nil || s.PeriodSeconds*s.FailureThreshold < 90 || !isRoute(t, s.HTTPGet.Path) {
		t.Errorf("%s: probe of the start %+v", p.name, s)
	}
	if len(p.spec.TopologySpreadConstraints) == 0 {
		t.Errorf("%s: its pods may all be on one node", p.name)
	}
}

// checkConfig loads the configuration of the chart with the variables of a pod.
func (o objects) checkConfig(t *testing.T) {
	t.Helper()
	env := []string{"PGPASSWORD=p", "MILVUS_TOKEN=t", "BUCKET_CREDENTIALS={}", "CAIRN_ADMIN_KEY=0123456789abcdef0123", "CAIRN_SECRET_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
	for _, s := range o.secrets {
		for name, value := range s.StringData {
			env = append(env, name+"="+value)
		}
	}
	for _, variable := range o.pods()[0].container().Env {
		if variable.Name != "CAIRN_CONFIG" {
			env = append(env, variable.Name+"="+variable.Value)
		}
	}
	for _, c := range o.configs {
		file := filepath.Join(t.TempDir(), "cairn.yaml")
		if err := os.WriteFile(file, []byte(c.Data["cairn.yaml"]), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded := configOf(t, file, env)
		for _, d := range o.deployments {
			if grace := *d.Spec.Template.Spec.TerminationGracePeriodSeconds; grace < int64(loaded.ShutdownSeconds)+15 {
				t.Errorf("%s is killed after %d s, it stops within %d s", d.Name, grace, loaded.ShutdownSeconds)
			}
		}
	}
}

// checkReferences holds that every name in a pod names an object. Hooks may only use
// hooks, which exist before them.
func (o objects) checkReferences(t *testing.T) {
	t.Helper()
	known := map[string]int{} // weight as a hook, 1000 = no hook
	note := func(kind string, m meta.ObjectMeta) {
		weight := 1000
		if m.Annotations["helm.sh/hook"] != "" {
			weight, _ = strconv.Atoi(m.Annotations["helm.sh/hook-weight"])
		}
		known[kind+"/"+m.Name] = weight
	}
	for _, c := range o.configs {
		note("config", c.ObjectMeta)
	}
	for _, s := range o.secrets {
		note("secret", s.ObjectMeta)
	}
	for _, a := range o.accounts {
		note("account", a.ObjectMeta)
	}
	yours := map[string]bool{"secret/vault": true, "account/shared": true}
	for _, p := range o.pods() {
		names := []string{"account/" + p.spec.ServiceAccountName, "secret/" + p.container().EnvFrom[0].SecretRef.Name}
		for _, v := range p.spec.Volumes {
			if v.ConfigMap != nil {
				names = append(names, "config/"+v.ConfigMap.Name)
			}
		}
		for _, name := range names {
			weight, ok := known[name]
			if !ok && !yours[name] || p.hook && ok && weight >= 0 || !p.hook && ok && weight != 1000 {
				t.Errorf("%s uses %s", p.name, name)
			}
		}
	}
}

// checkSelectors holds that every selector finds the pods that it is meant for.
func (o objects) checkSelectors(t *testing.T) {
	t.Helper()
	finds := func(selector *meta.LabelSelector) (names []string) {
		s, err := meta.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range o.pods() {
			if s.Matches(labels.Set(p.labels)) {
				names = append(names, p.name)
			}
		}
		return names
	}
	exists := map[string]bool{}
	for _, d := range o.deployments {
		exists[d.Name] = true
		if got := finds(d.Spec.Selector); !slices.Equal(got, []string{d.Name}) {
			t.Errorf("the deployment %s selects %q", d.Name, got)
		}
	}
	for _, b := range o.budgets {
		if got := finds(b.Spec.Selector); !slices.Equal(got, []string{b.Name}) {
			t.Errorf("the budget %s selects %q", b.Name, got)
		}
	}
	for _, s := range o.services {
		if got := finds(&meta.LabelSelector{MatchLabels: s.Spec.Selector}); !slices.Equal(got, []string{"kb-cairn-api"}) || s.Spec.Ports[0].TargetPort.StrVal != "http" {
			t.Errorf("the service %s selects %q", s.Name, got)
		}
	}
	for _, n := range o.networks {
		if got := finds(&n.Spec.PodSelector); n.Name == "kb-cairn" && len(got) != len(o.pods()) || len(got) == 0 {
			t.Errorf("the network policy %s selects %q", n.Name, got)
		}
	}
	for _, m := range o.monitors {
		if got := finds(&m.Spec.Selector); len(got) != len(o.pods()) || !isRoute(t, m.Spec.PodMetricsEndpoints[0].Path) {
			t.Errorf("the monitor selects %q", got)
		}
	}
	for _, h := range o.scalers {
		if !exists[h.Spec.ScaleTargetRef.Name] {
			t.Errorf("no deployment %s to scale", h.Spec.ScaleTargetRef.Name)
		}
	}
	for _, s := range o.scaled {
		if !exists[s.Spec.ScaleTargetRef.Name] {
			t.Errorf("no deployment %s to scale", s.Spec.ScaleTargetRef.Name)
		}
	}
}
