package check_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

const chartFolder = "deploy/helm/cairn"

// secretValues are what every process needs.
const secretValues = `
secrets:
  values:
    CAIRN_ADMIN_KEY: 0123456789abcdef0123
    CAIRN_SECRET_KEY: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=
    PGPASSWORD: p
    MILVUS_TOKEN: root:p
    BUCKET_CREDENTIALS: "{}"
    LLM_KEY: k
`

// settings are values of the chart by name. Each is rendered and checked.
var settings = map[string]string{
	"defaults":          secretValues,
	"a_secret_of_yours": "secrets: {existingSecret: vault}",
	"an_account":        secretValues + "serviceAccount: {create: false, name: shared}",
	"a_role_of_a_cloud": secretValues + "config: {blob: {credentials_env: null}}\nserviceAccount: {annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::1:role/cairn'}}",
	"ingress_with_TLS":  secretValues + "api: {ingress: {enabled: true, className: nginx, host: cairn.example.com, tlsSecret: cairn-tls}}",
	"processor_time":    secretValues + "api: {autoscaling: {enabled: true, maxReplicas: 5}}",
	"backlog":           secretValues + "keda: {enabled: true, authenticationRef: temporal}",
	"metrics":           secretValues + "podMonitor: {enabled: true, labels: {release: prometheus}}\nnetworkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}",
	"closed_network":    secretValues + "networkPolicy: {apiFrom: [{podSelector: {}}], egress: {anywhere: false, extra: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}}",
	"no_network_policy": secretValues + "networkPolicy: {enabled: false}",
	"one_worker":        secretValues + "workers: {query: null, bulk: null, ingest: {queues: [query, ingest, fetch, parse, embed, transcribe, write, bulk, bulk-large, webhook]}}",
	"no_disruption":     secretValues + "api: {podDisruptionBudget: {enabled: false}}\nworker: {podDisruptionBudget: {enabled: false}}",
	"digests":           secretValues + "images: {api: {digest: 'sha256:" + digest + "'}, worker: {repository: registry.example.com/cairn/worker, tag: 1.2.3}}",
	"nodes":             secretValues + "api: {nodeSelector: {disk: ssd}, tolerations: [{key: a, operator: Exists}], affinity: {nodeAffinity: {}}}\nworker: {nodeSelector: {disk: ssd}}",
	"another_database":  secretValues + "config: {database: {url: 'postgres://cairn@db.example.com/cairn?sslmode=verify-full'}}",
	"another_index":     secretValues + "config: {vector: {url: 'milvus://in01-1.example.com:19535/default?tls=true'}}",
	"another_bucket":    secretValues + "config: {blob: {url: 's3://other?region=eu-west-1&endpoint=https://s3.example.com'}}",
	"Temporal_with_TLS": secretValues + "config: {temporal: {address: 'x.tmprl.cloud:7233', namespace: x.y, tls: {enabled: true}}}",
	"models":            secretValues + "config: {models: {chat: {base_url: 'https://llm.example.com/v1', model: m, key_env: LLM_KEY}}}",
	"a_long_stop":       secretValues + "config: {shutdown_seconds: 120}",
	"namespaces":        secretValues + "worker: {seccompProfile: {type: Localhost, localhostProfile: profiles/cairn.json}}",
	"another_variable":  secretValues + "extraEnv: [{name: CAIRN_LOG__LEVEL, value: debug}]",
}

var digest = strings.Repeat("0123456789abcdef", 4)

// refused are values that the chart does not take.
var refused = map[string]string{
	"unknown_value":         "replicas: 3",
	"unknown_value_of_api":  "api: {replica: 3}",
	"the_newest_image":      "images: {api: {tag: latest}}",
	"an_embedded_server":    "config: {temporal: {address: embedded}}",
	"a_password_in_config":  "config: {admin_key: 0123456789abcdef0123}",
	"an_unknown_queue":      "workers: {query: {queues: [questions]}}",
	"a_worker_without_work": "workers: {query: {queues: []}}",
	"ingress_without_host":  "api: {ingress: {enabled: true}}",
	"a_secret_as_list":      "secrets: {values: {PGPASSWORD: [a]}}",
}

func valuesOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var values map[string]any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// render returns the files that helm template writes for a release named cairn.
func render(t *testing.T, text string) (map[string]string, error) {
	t.Helper()
	chart, err := loader.LoadDir(filepath.Join(root, chartFolder))
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "cairn", Namespace: "cairn", IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, valuesOf(t, text), release, nil)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, values)
}

func TestChartIsCleanForHelmLint(t *testing.T) {
	t.Parallel()
	for name, text := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, m := range lint.All(filepath.Join(root, chartFolder), valuesOf(t, text), "cairn", true).Messages {
				if m.Severity > support.InfoSev {
					t.Error(m)
				}
			}
		})
	}
}

func TestChartRefusesWrongValues(t *testing.T) {
	t.Parallel()
	for name, text := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := render(t, text); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

// objectsOf renders the chart and decodes each object strictly.
func objectsOf(t *testing.T, text string) objects {
	t.Helper()
	files, err := render(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var all objects
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			if strings.Contains(files[name], "<no value>") {
				t.Errorf("%s:\n%s", name, files[name])
			}
			continue
		}
		for document := range strings.SplitSeq(files[name], "\n---") {
			all.add(t, document)
		}
	}
	return all
}

func TestChart(t *testing.T) {
	t.Parallel()
	for name, text := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := objectsOf(t, text)
			o.checkPods(t)
			o.checkReferences(t)
			o.checkSelectors(t)
			o.checkConfig(t)
			var served []string
			for _, p := range o.pods() {
				served = append(served, queuesOf(p.container().Args)...)
			}
			checkQueues(t, served)
			for _, s := range o.services {
				if strings.HasPrefix(s.Name, "cairn") {
					t.Errorf("Kubernetes would inject CAIRN_… for the service %s", s.Name)
				}
			}
		})
	}
}

func TestChartScalesByBacklog(t *testing.T) {
	t.Parallel()
	o := objectsOf(t, settings["backlog"])
	queues := map[string]string{} // deployment of each queue with a trigger
	for _, s := range o.scaled {
		for _, trigger := range s.Spec.Triggers {
			if trigger.Type != "temporal" || trigger.Metadata["endpoint"] == "" || trigger.Metadata["namespace"] != "cairn" || trigger.AuthenticationRef.Name != "temporal" {
				t.Errorf("trigger %+v", trigger)
			}
			queues[trigger.Metadata["taskQueue"]] = s.Spec.ScaleTargetRef.Name
		}
	}
	for _, d := range o.deployments {
		for _, queue := range queuesOf(d.Spec.Template.Spec.Containers[0].Args) {
			if queues[queue] != d.Name {
				t.Errorf("%q scales %q, its worker is %s", queue, queues[queue], d.Name)
			}
			if d.Spec.Replicas != nil {
				t.Errorf("%s has a fixed number of replicas too", d.Name)
			}
		}
	}
}
