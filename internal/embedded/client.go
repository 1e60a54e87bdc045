package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

// dialPause is the time between two tries to reach the server.
const dialPause = 10 * time.Millisecond

// Dial returns a client of the server's namespace. It tries until the server
// answers or ctx ends. The functions change the client's options before that.
func (s *Server) Dial(ctx context.Context, logger *slog.Logger, options ...func(*client.Options)) (client.Client, error) {
	return Dial(ctx, s.address, logger, options...)
}

// Dial is Server.Dial for the server of another process on this machine, by its host
// and port.
func Dial(ctx context.Context, address string, logger *slog.Logger, options ...func(*client.Options)) (client.Client, error) {
	o := client.Options{
		HostPort:  address,
		Namespace: namespace,
		Logger:    sdklog.NewStructuredLogger(logger),
		// On a loopback, compression costs time and saves none.
		ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}},
	}
	for _, change := range options {
		change(&o)
	}
	for {
		c, err := dialOnce(ctx, o)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("reach the Temporal server on %s: %w (%w)", address, ctx.Err(), err)
		case <-time.After(dialPause):
		}
	}
}

func dialOnce(ctx context.Context, o client.Options) (client.Client, error) {
	c, err := client.DialContext(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// prepareNamespace waits for the namespace, and sets its retention and search
// attributes to the configured ones, since an older program may have created it.
func (s *Server) prepareNamespace(ctx context.Context) error {
	quiet := slog.New(slog.DiscardHandler) // failed tries are expected
	c, err := s.Dial(ctx, quiet)
	if err != nil {
		return err
	}
	defer c.Close()
	description, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", namespace, err)
	}
	if description.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != retention {
		_, err := c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
			Namespace: namespace,
			Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(retention)},
		})
		if err != nil {
			return fmt.Errorf("set retention of namespace %s: %w", namespace, err)
		}
	}
	return s.addSearchAttributes(ctx, c)
}

func (s *Server) addSearchAttributes(ctx context.Context, c client.Client) error {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list search attributes of namespace %s: %w", namespace, err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for attribute, kind := range s.config.SearchAttributes {
		switch found := have.GetCustomAttributes()[attribute]; found {
		case kind:
		case enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED:
			missing[attribute] = kind
		default:
			return fmt.Errorf("search attribute %s of namespace %s is %s in this folder, and should be %s", attribute, namespace, found, kind)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("add search attributes to namespace %s: %w", namespace, err)
	}
	return nil
}
