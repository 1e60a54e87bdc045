package embedded_test

import (
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	computepb "go.temporal.io/api/compute/v1"
	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/embedded"
)

// TestWithoutWorkerControllers uses what the server implements with the module
// that absent/workercontroller replaces: versions of workers.
func TestWithoutWorkerControllers(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{Dir: t.TempDir()})
	c := dial(t, s)
	t.Cleanup(c.Close)
	version := worker.WorkerDeploymentVersion{DeploymentName: "absent", BuildID: "one"}
	w := worker.New(c, "versioned", worker.Options{DeploymentOptions: worker.DeploymentOptions{
		UseVersioning: true, Version: version, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: "Short"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)

	describe := &workflowservice.DescribeWorkerDeploymentVersionRequest{
		Namespace: "cairn", DeploymentVersion: &deploymentpb.WorkerDeploymentVersion{DeploymentName: version.DeploymentName, BuildId: version.BuildID},
	}
	var err error
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) { // the worker reports itself when it polls
		if _, err = c.WorkflowService().DescribeWorkerDeploymentVersion(t.Context(), describe); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("describe a version of a worker: %v", err)
	}
	_, err = c.WorkflowService().ValidateWorkerDeploymentVersionComputeConfig(t.Context(), &workflowservice.ValidateWorkerDeploymentVersionComputeConfigRequest{
		Namespace: "cairn", DeploymentVersion: describe.DeploymentVersion,
		ComputeConfigScalingGroups: map[string]*computepb.ComputeConfigScalingGroupUpdate{"all": {ScalingGroup: &computepb.ComputeConfigScalingGroup{
			Provider: &computepb.ComputeProvider{Type: "k8s", Details: &commonpb.Payload{}},
		}}},
	})
	if err == nil || !strings.Contains(err.Error(), "starts no workers") {
		t.Errorf("workers on Kubernetes: got %v, want a refusal", err)
	}
}
