package namespace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Retention is how long the history of an ended workflow is kept in a namespace that
// Cairn creates.
const Retention = 30 * 24 * time.Hour

// visible bounds how long a server takes to make a change of its namespaces known to
// all its parts.
const visible = 30 * time.Second

// Register creates the namespace if it does not exist, and the search attributes that
// it lacks, and returns when both can be used. Doing it twice changes nothing. It keeps
// the retention of a namespace that exists.
func Register(ctx context.Context, c client.Client, name string, attributes map[string]enumspb.IndexedValueType) error {
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name})
	if isNotFound(err) {
		_, err = c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: name, Description: "Cairn's workflows", WorkflowExecutionRetentionPeriod: durationpb.New(Retention),
		})
		if _, there := errors.AsType[*serviceerror.NamespaceAlreadyExists](err); there { // another process was faster
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, visible)
	defer cancel()
	for {
		err := AddSearchAttributes(ctx, c, name, attributes)
		if err == nil {
			err = Check(ctx, c, name, attributes)
		}
		if _, wrong := errors.AsType[typeError](err); err == nil || wrong {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// AddSearchAttributes creates the search attributes that a namespace lacks.
func AddSearchAttributes(ctx context.Context, c client.Client, name string, attributes map[string]enumspb.IndexedValueType) error {
	missing, err := missing(ctx, c, name, attributes)
	if err != nil || len(missing) == 0 {
		return err
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: name, SearchAttributes: missing})
	if err != nil {
		return fmt.Errorf("add search attributes to namespace %s: %w", name, err)
	}
	return nil
}

// Check returns an error that names what a namespace lacks.
func Check(ctx context.Context, c client.Client, name string, attributes map[string]enumspb.IndexedValueType) error {
	if _, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name}); err != nil {
		return fmt.Errorf("describe namespace %s: %w", name, err)
	}
	missing, err := missing(ctx, c, name, attributes)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("namespace %s lacks the search attributes %s", name, strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return usable(ctx, c, name, attributes)
}

// usable returns an error while the server does not accept the search attributes yet,
// which can take it ten seconds after their creation. Until then it starts no workflow
// that has them.
func usable(ctx context.Context, c client.Client, name string, attributes map[string]enumspb.IndexedValueType) error {
	var conditions []string
	for attribute := range attributes {
		conditions = append(conditions, attribute+" IS NULL")
	}
	if len(conditions) == 0 {
		return nil
	}
	slices.Sort(conditions)
	_, err := c.WorkflowService().CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: name, Query: strings.Join(conditions, " AND ") + ` AND WorkflowId = "none"`,
	})
	if err != nil {
		return fmt.Errorf("use the search attributes of namespace %s: %w", name, err)
	}
	return nil
}

func missing(ctx context.Context, c client.Client, name string, attributes map[string]enumspb.IndexedValueType) (map[string]enumspb.IndexedValueType, error) {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: name})
	if err != nil {
		return nil, fmt.Errorf("list search attributes of namespace %s: %w", name, err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for attribute, kind := range attributes {
		switch found := have.GetCustomAttributes()[attribute]; found {
		case kind:
		case enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED:
			missing[attribute] = kind
		default:
			return nil, typeError{name, attribute, found, kind}
		}
	}
	return missing, nil
}

// typeError is the error of a search attribute of another type.
type typeError struct {
	namespace, attribute string
	found, want          enumspb.IndexedValueType
}

// Error implements error.
func (e typeError) Error() string {
	return fmt.Sprintf("search attribute %s of namespace %s is %s, and should be %s", e.attribute, e.namespace, e.found, e.want)
}

func isNotFound(err error) bool {
	_, missing := errors.AsType[*serviceerror.NamespaceNotFound](err)
	_, gone := errors.AsType[*serviceerror.NotFound](err)
	return missing || gone
}
