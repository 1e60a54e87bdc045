package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MachineCheck is the result of one check of the machine of a server.
type MachineCheck struct {
	Check  string `json:"check"`
	State  string `json:"state" enum:"ok,note,problem" doc:"note: nothing has to be done; problem: a person has to do something"`
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty" doc:"What to do"`
}

// machineRoutes holds the route that shows the machine of the process.
type machineRoutes struct {
	checks func(ctx context.Context) []MachineCheck // nil = none are made
}

func (m *machineRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "check-machine", Method: http.MethodGet, Path: "/machine", Summary: "Check the machine of the server", Tags: []string{"server"},
		Description: "What cairn doctor checks on the machine of the process that answers: the programs that read documents, their confinement, and the memory. In a cluster the workers may run on other machines. Needs the instance's admin key.",
	}}, func(ctx context.Context, _ knowledge.Principal, _ *struct{}) (*listOutput[MachineCheck], error) {
		if m.checks == nil {
			return page([]MachineCheck{}, ""), nil
		}
		return page(m.checks(ctx), ""), nil
	})
}
