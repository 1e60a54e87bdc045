// Package iface declares how the Temporal server describes workers that it would
// start by itself.
package iface

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
)

// ComputeProviderType names where workers are started.
type ComputeProviderType string

// ComputeProviderSpec is where workers are started, with its settings.
type ComputeProviderSpec struct {
	ProviderType  ComputeProviderType
	Config        *commonpb.Payload
	NexusEndpoint string
}

// ScalingAlgorithmType names how the number of workers is chosen.
type ScalingAlgorithmType string

// ScalingAlgorithmSpec is how the number of workers is chosen, with its settings.
type ScalingAlgorithmSpec struct {
	ScalingAlgorithm ScalingAlgorithmType
	Config           *commonpb.Payload
}

// ScalingGroupSpec is a group of workers for some types of tasks.
type ScalingGroupSpec struct {
	TaskTypes []enumspb.TaskQueueType
	Compute   ComputeProviderSpec
	Scaling   *ScalingAlgorithmSpec
}

// ScalingGroupSpecUpdate changes the fields of a group that its mask names.
type ScalingGroupSpecUpdate struct {
	Spec       ScalingGroupSpec
	UpdateMask []string
}

// WorkerControllerInstanceSpec holds the groups of one version of a worker.
type WorkerControllerInstanceSpec struct {
	ScalingGroupSpecs map[string]ScalingGroupSpec
}

// ValidationResult is the outcome of a check of a specification.
type ValidationResult string

// ValidationResultFailed marks a specification that cannot be used.
const ValidationResultFailed ValidationResult = "failed"

// ValidationStatus is the last check of a specification.
type ValidationStatus struct {
	LastValidationTime time.Time
	Status             ValidationResult
	ErrMessage         string
}

// QueryDescribeWorkerControllerInstanceResponse describes a controller.
type QueryDescribeWorkerControllerInstanceResponse struct {
	Spec             *WorkerControllerInstanceSpec
	ValidationStatus *ValidationStatus
}

// UpdateWorkerControllerInstanceResponse holds the specification after an update.
type UpdateWorkerControllerInstanceResponse struct {
	Spec *WorkerControllerInstanceSpec
}
