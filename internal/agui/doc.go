// Package agui shows the events of a run (docs/events.md) as the events of the Agent-User
// Interaction Protocol (AG-UI, version 1.0), so that front ends which know that protocol
// can show a run of Cairn.
//
// It is a function of the events' names and data. It knows neither the run's log nor who
// reads it.
package agui
