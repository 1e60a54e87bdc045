package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// planSyncs plans the syncs that are not there, and those that differ.
func (p *projectPlan) planSyncs(ctx context.Context, c *client.Client, want []fileSync) error {
	if len(want) == 0 {
		return nil
	}
	connections, err := pages(0, func(cursor string, limit int) (client.List[client.Connection], error) {
		return c.Connections(ctx, cursor, limit)
	})
	if err != nil {
		return err
	}
	var has []client.Sync
	if p.id != "" {
		if has, err = pages(0, func(cursor string, limit int) (client.List[client.Sync], error) {
			return c.Syncs(ctx, p.id, cursor, limit)
		}); err != nil {
			return err
		}
	}
	found, err := matchSyncs(want, connections, has)
	if err != nil {
		return err
	}
	for n, s := range want {
		now := found[n]
		if now.ID == "" {
			p.add(func(ctx context.Context, c *client.Client) error {
				_, err := c.AddSync(ctx, client.NewSync{
					ConnectionID: now.ConnectionID, ProjectID: p.id, Scope: s.Scope, Include: s.Include, Exclude: s.Exclude, Tags: s.Tags, Subjects: s.Subjects,
					Every: s.Every, Permissions: s.Permissions, RemoveVanished: s.RemoveVanished,
				})
				return err
			}, "+ sync of %s", s.place())
			continue
		}
		if !s.hasPermissions(now) {
			return wrongUse("the permissions of the sync of %s cannot change from %s to %s; remove it with: cairn syncs remove %s", s.place(), now.Permissions, s.Permissions, now.ID)
		}
		if patch := s.changes(now); len(patch) > 0 {
			p.add(func(ctx context.Context, c *client.Client) error {
				_, err := c.ChangeSync(ctx, now.ID, patch)
				return err
			}, "~ sync of %s: %s", s.place(), strings.Join(slices.Sorted(maps.Keys(patch)), ", "))
		}
	}
	return nil
}

// matchSyncs returns the sync that is there for each one of a file, with a connection alone if
// there is none. A place may have several syncs: one without a difference comes first.
func matchSyncs(want []fileSync, connections []client.Connection, has []client.Sync) ([]client.Sync, error) {
	found := make([]client.Sync, len(want))
	for n, s := range want {
		connection, err := s.findConnection(connections)
		if err != nil {
			return nil, err
		}
		found[n].ConnectionID = connection
	}
	left := slices.Clone(has)
	for _, exact := range []bool{true, false} {
		for n, s := range want {
			at := slices.IndexFunc(left, func(h client.Sync) bool {
				same := h.ConnectionID == found[n].ConnectionID && maps.Equal(h.Scope, s.Scope)
				return found[n].ID == "" && same && (!exact || s.hasPermissions(h) && len(s.changes(h)) == 0)
			})
			if at >= 0 {
				found[n] = left[at]
				left = slices.Delete(left, at, at+1)
			}
		}
	}
	return found, nil
}

// hasPermissions reports whether a sync has the permissions that the file names.
func (s fileSync) hasPermissions(has client.Sync) bool {
	return s.Permissions == "" || s.Permissions == has.Permissions
}

// place names what a sync follows.
func (s fileSync) place() string {
	if len(s.Scope) == 0 {
		return "everything"
	}
	return compactJSON(s.Scope)
}

// findConnection returns the id of the connection of a sync.
func (s fileSync) findConnection(all []client.Connection) (string, error) {
	var by struct {
		Type    string            `json:"type"`
		Options map[string]string `json:"options"`
	}
	encoded, err := json.Marshal(s.Connection)
	if err != nil {
		return "", wrongUse("the connection of a sync: %v", err)
	}
	if id, ok := s.Connection.(string); ok {
		for _, c := range all {
			if c.ID == id {
				return id, nil
			}
		}
		return "", wrongUse("there is no connection %s; cairn connections list shows them", id)
	}
	strict := json.NewDecoder(bytes.NewReader(encoded))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&by); err != nil || by.Type == "" {
		return "", wrongUse("the connection of a sync is an id, or {type, options}, not %s", encoded)
	}
	var matches []match
	for _, c := range all {
		if c.Type == by.Type && containsOptions(c.Options, by.Options) {
			matches = append(matches, match{c.ID, c.Type + ", " + c.Options["url"]})
		}
	}
	if len(matches) == 0 {
		return "", wrongUse("there is no connection %s; make it, because files have no secrets: cairn connections add %s", encoded, by.Type)
	}
	return only(matches, "connection", string(encoded), "cairn connections list")
}

func containsOptions(has, want map[string]string) bool {
	for name, value := range want {
		if has[name] != value {
			return false
		}
	}
	return true
}

// changes returns the fields of a sync that differ from what the file names.
func (s fileSync) changes(has client.Sync) map[string]any {
	patch := map[string]any{}
	for name, lists := range map[string][2][]string{
		"include": {s.Include, has.Include}, "exclude": {s.Exclude, has.Exclude}, "tags": {s.Tags, has.Tags}, "subjects": {s.Subjects, has.Subjects},
	} {
		if lists[0] != nil && !slices.Equal(lists[0], lists[1]) {
			patch[name] = lists[0]
		}
	}
	if s.Every != "" && !sameDuration(s.Every, has.Every) {
		patch["every"] = s.Every
	}
	if s.RemoveVanished != nil && *s.RemoveVanished != has.RemoveVanished {
		patch["remove_vanished"] = *s.RemoveVanished
	}
	return patch
}

// sameDuration reports whether two texts are one duration.
func sameDuration(a, b string) bool {
	x, err := time.ParseDuration(a)
	y, wrong := time.ParseDuration(b)
	return a == b || err == nil && wrong == nil && x == y
}
