// Package client answers the Temporal server's questions about worker
// controllers: there are none, and none can be made.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"
)

// Client is what the server calls.
type Client interface {
	DescribeWorkerControllerInstance(ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error)
	UpdateWorkerControllerInstance(ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, conflictToken []byte, identity string, upserts map[string]iface.ScalingGroupSpecUpdate, removals []string) (*iface.UpdateWorkerControllerInstanceResponse, error)
	ValidateWorkerControllerInstanceSpec(ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, identity string, upserts map[string]iface.ScalingGroupSpecUpdate, removals []string) error
	DeleteWorkerControllerInstance(ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, identity string) error
}

// Module provides the Client.
var Module = fx.Options(fx.Provide(func() Client { return none{} }))

// none is a Client without worker controllers.
type none struct{}

// DescribeWorkerControllerInstance returns NotFound, as for a version for which
// no controller was ever set up.
func (none) DescribeWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound("this server has no worker controllers")
}

// UpdateWorkerControllerInstance refuses.
func (none) UpdateWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, []byte, string, map[string]iface.ScalingGroupSpecUpdate, []string) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, refused()
}

// ValidateWorkerControllerInstanceSpec refuses every specification.
func (none) ValidateWorkerControllerInstanceSpec(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string, map[string]iface.ScalingGroupSpecUpdate, []string) error {
	return refused()
}

// DeleteWorkerControllerInstance does nothing: there is nothing to delete.
func (none) DeleteWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string) error {
	return nil
}

func refused() error {
	return serviceerror.NewInvalidArgument("this server starts no workers: start them yourself")
}
