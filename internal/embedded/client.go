package embedded

import (
	"context"
	"fmt"
	"log/slog"

	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cairn-rag/cairn/internal/namespace"
)

// Dial returns a client of the server's namespace. It tries until the server
// answers or ctx ends. The functions change the client's options before that.
func (s *Server) Dial(ctx context.Context, logger *slog.Logger, options ...func(*client.Options)) (client.Client, error) {
	return namespace.Dial(ctx, namespace.Target{Address: s.address, Name: namespace.Default}, logger, options...)
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
	description, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace.Default})
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", namespace.Default, err)
	}
	if description.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != retention {
		_, err := c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
			Namespace: namespace.Default,
			Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(retention)},
		})
		if err != nil {
			return fmt.Errorf("set retention of namespace %s: %w", namespace.Default, err)
		}
	}
	return namespace.AddSearchAttributes(ctx, c, namespace.Default, s.config.SearchAttributes)
}
