package edge

import (
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PermissionExtension is where an operation of openapi.json names the permission that it
// needs.
const PermissionExtension = "x-permission"

// needed returns the permission that a route needs. A route that the table of package access
// lacks, or that lets others in than the table says, is a fault of the program: CheckRoutes
// returns it, and nobody has the permission for such a route.
func (e *Edge) needed(rt Route) knowledge.Permission {
	name := access.RouteName(rt.Method, rt.Path)
	needs, there := e.needs[name]
	switch isOpen := rt.Public && !rt.Proves; {
	case !there:
		e.faults = append(e.faults, fmt.Errorf("the route %s has no permission: access.Permissions needs a row for it", name))
	case isOpen != (needs == knowledge.Public):
		e.faults = append(e.faults, fmt.Errorf("the route %s checks credentials: %t, but its permission is %s", name, !isOpen, needs))
		return ""
	}
	return needs
}

// CheckRoutes returns an error if the routes and the table of permissions do not agree.
func (e *Edge) CheckRoutes() error { return errors.Join(e.faults...) }
