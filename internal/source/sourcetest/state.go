package sourcetest

import (
	"context"
	"maps"
	"sync"
)

// State is a source.State in memory.
type State struct {
	mu     sync.Mutex
	values map[string][]byte
}

// Load implements source.State.
func (s *State) Load(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[name], nil
}

// Save implements source.State.
func (s *State) Save(_ context.Context, name string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string][]byte{}
	}
	s.values[name] = value
	return nil
}

// Copy returns a State with the same values.
func (s *State) Copy() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &State{values: maps.Clone(s.values)}
}
