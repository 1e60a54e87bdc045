package check_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chartutil"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// objects are what a chart renders, by kind.
type objects struct {
	deployments []apps.Deployment
	jobs        []batch.Job
	services    []core.Service
	configs     []core.ConfigMap
	secrets     []core.Secret
	accounts    []core.ServiceAccount
	budgets     []policy.PodDisruptionBudget
	scalers     []autoscaling.HorizontalPodAutoscaler
	networks    []networking.NetworkPolicy
	ingresses   []networking.Ingress
	monitors    []monitoring.PodMonitor
	scaled      []scaledObject
}

// scaledObject is a ScaledObject of KEDA, which its own definition checks.
type scaledObject struct {
	Metadata struct{ Name string }
	Spec     struct {
		ScaleTargetRef struct{ Name string }
		Triggers       []struct {
			Type              string
			Metadata          map[string]string
			AuthenticationRef struct{ Name string }
		}
	}
}

// add decodes an object. An unknown field or a wrong type fails the test.
func (o *objects) add(t *testing.T, document string) {
	t.Helper()
	var meta struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
	}
	if err := yaml.Unmarshal([]byte(document), &meta); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	kind := meta.APIVersion + "/" + meta.Kind
	switch kind {
	case "/": // comments
		return
	case "apps/v1/Deployment":
		o.deployments = decode(t, o.deployments, document)
	case "batch/v1/Job":
		o.jobs = decode(t, o.jobs, document)
	case "v1/Service":
		o.services = decode(t, o.services, document)
	case "v1/ConfigMap":
		o.configs = decode(t, o.configs, document)
	case "v1/Secret":
		o.secrets = decode(t, o.secrets, document)
	case "v1/ServiceAccount":
		o.accounts = decode(t, o.accounts, document)
	case "policy/v1/PodDisruptionBudget":
		o.budgets = decode(t, o.budgets, document)
	case "autoscaling/v2/HorizontalPodAutoscaler":
		o.scalers = decode(t, o.scalers, document)
	case "networking.k8s.io/v1/NetworkPolicy":
		o.networks = decode(t, o.networks, document)
	case "networking.k8s.io/v1/Ingress":
		o.ingresses = decode(t, o.ingresses, document)
	case "monitoring.coreos.com/v1/PodMonitor":
		o.monitors = decode(t, o.monitors, document)
	case "keda.sh/v1alpha1/ScaledObject":
		checkScaledObject(t, document)
		var s scaledObject
		if err := yaml.Unmarshal([]byte(document), &s); err != nil {
			t.Error(err)
		}
		o.scaled = append(o.scaled, s)
	default:
		t.Errorf("unknown kind %s", kind)
	}
	if len(meta.Metadata.Name) == 0 || len(meta.Metadata.Name) > 63 {
		t.Errorf("%s has the name %q", kind, meta.Metadata.Name)
	}
}

func decode[T any](t *testing.T, list []T, document string) []T {
	t.Helper()
	var object T
	if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
		t.Errorf("%v in\n%s", err, document)
	}
	return append(list, object)
}

// checkScaledObject checks an object against KEDA's definition of it.
func checkScaledObject(t *testing.T, document string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/kedacore/keda/v2").Output()
	if err != nil {
		t.Fatalf("download KEDA's module: %v", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "config/crd/bases/keda.sh_scaledobjects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	closeObjects(schema)
	encoded, err := yaml.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err = yaml.YAMLToJSON(encoded)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(document), &object); err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ValidateAgainstSingleSchema(object, encoded); err != nil {
		t.Error(err)
	}
}

// closeObjects makes a schema refuse properties that it does not name, as
// kubectl --validate=strict does. metadata is open in definitions of resources.
func closeObjects(schema map[string]any) {
	if properties, ok := schema["properties"].(map[string]any); ok {
		schema["additionalProperties"] = false
		for name, property := range properties {
			if p, ok := property.(map[string]any); ok && name != "metadata" {
				closeObjects(p)
			}
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		closeObjects(items)
	}
}
