package envelope

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Key is a data key as it is kept: wrapped by a master key.
type Key struct {
	ID        string // 32 hexadecimal digits
	Wrapped   string
	Master    string // the name of the master key
	CreatedAt time.Time
}

// Keys keeps the data keys of an instance.
type Keys interface {
	// DataKeys returns the data keys, the oldest first.
	DataKeys(ctx context.Context) ([]Key, error)
	// ReplaceDataKeys stores now in place of before. If the keys are others than before, it
	// changes nothing and returns false.
	ReplaceDataKeys(ctx context.Context, before, now []Key) (bool, error)
}

// Ring has the data keys of an instance in memory. The zero Ring encrypts nothing. Its methods
// may be called at the same time.
type Ring struct {
	loading sync.Mutex // held while keys are read
	keys    Keys       // nil before Load
	master  func(context.Context) (Master, error)

	kept   []Key               // as they were read last; guarded by loading
	absent map[keyID]time.Time // keys that were looked for in vain, and when; guarded by loading

	mu     sync.RWMutex
	open   map[keyID][]byte
	active *activeKey // nil = nothing is encrypted
}

type activeKey struct {
	id  keyID
	key []byte
}

// Of returns a ring with one key of KeyBytes bytes, which the caller keeps.
func Of(key []byte) *Ring {
	only := activeKey{key: key}
	return &Ring{open: map[keyID][]byte{only.id: key}, active: &only}
}

// Load reads the data keys, and makes the first one if there is a master key and no data key.
// master returns the master key, nil if none is configured. It is called again whenever keys
// are read.
func (r *Ring) Load(ctx context.Context, keys Keys, master func(context.Context) (Master, error)) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	r.keys, r.master = keys, master
	return r.reload(ctx, false)
}

// On reports whether values are encrypted.
func (r *Ring) On() bool { return r.sealing() != nil }

func (r *Ring) sealing() *activeKey {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.active
}

// Refresh reads the data keys again, which another process may have rotated.
func (r *Ring) Refresh(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	if r.keys == nil {
		return nil
	}
	return r.reload(ctx, false)
}

// Rotate wraps all data keys with the present master key and makes a new data key, with which
// values are encrypted from now on. What was encrypted before stays readable.
func (r *Ring) Rotate(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	if r.keys == nil {
		return ErrOff
	}
	return r.reload(ctx, true)
}

// rotateTries bounds the attempts of a change of the keys beside other processes.
const rotateTries = 5

// reload reads the keys. With rotate, or if there is a master key and no data key, it stores a
// new one.
func (r *Ring) reload(ctx context.Context, rotate bool) error {
	var master Master
	for range rotateTries {
		kept, err := r.keys.DataKeys(ctx)
		if err != nil {
			return fmt.Errorf("read the data keys: %w", err)
		}
		if !rotate && len(kept) > 0 && slices.Equal(kept, r.kept) {
			return nil
		}
		if master == nil {
			if master, err = r.master(ctx); err != nil {
				return err
			}
		}
		switch {
		case master == nil && len(kept) > 0:
			return &MasterError{Master: kept[len(kept)-1].Master}
		case master == nil && rotate:
			return ErrOff
		case master == nil:
			return nil
		}
		open, err := unwrap(ctx, master, kept)
		if err != nil {
			return err
		}
		if len(kept) > 0 && !rotate {
			r.kept = kept
			r.use(kept, open)
			return nil
		}
		now, err := wrap(ctx, master, kept, open)
		if err != nil {
			return err
		}
		done, err := r.keys.ReplaceDataKeys(ctx, kept, now)
		if err != nil {
			return fmt.Errorf("store the data keys: %w", err)
		}
		rotate = rotate && !done
	}
	return errors.New("the data keys are being changed by another process: try again")
}

// unwrap opens keys with the master key.
func unwrap(ctx context.Context, master Master, kept []Key) (map[keyID][]byte, error) {
	open := map[keyID][]byte{}
	for _, k := range kept {
		id, err := parseID(k.ID)
		if err != nil {
			return nil, err
		}
		key, err := master.Unwrap(ctx, k)
		if err != nil {
			return nil, &MasterError{Master: k.Master, Present: master.Name(), Cause: err}
		}
		open[id] = key
	}
	return open, nil
}

// wrap returns the keys, wrapped by the master key, and a new one behind them.
func wrap(ctx context.Context, master Master, kept []Key, open map[keyID][]byte) ([]Key, error) {
	var fresh keyID
	_, _ = rand.Read(fresh[:]) // Read never returns an error
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key)
	open[fresh] = key
	created := time.Now().UTC().Truncate(time.Microsecond)
	if n := len(kept); n > 0 && !created.After(kept[n-1].CreatedAt) { // a clock went back
		created = kept[n-1].CreatedAt.Add(time.Microsecond)
	}
	now := append(slices.Clone(kept), Key{ID: hex.EncodeToString(fresh[:]), CreatedAt: created})
	for i, k := range now {
		id, err := parseID(k.ID)
		if err != nil {
			return nil, err
		}
		if now[i].Wrapped, err = master.Wrap(ctx, k.ID, open[id]); err != nil {
			return nil, fmt.Errorf("wrap a data key: %w", err)
		}
		now[i].Master = master.Name()
	}
	return now, nil
}

// use takes the newest key for what is sealed from now on.
func (r *Ring) use(kept []Key, open map[keyID][]byte) {
	newest, _ := parseID(kept[len(kept)-1].ID) // unwrap has parsed it
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open, r.active = open, &activeKey{newest, open[newest]}
}

// Active returns the id of the newest data key, "" without one.
func (r *Ring) Active() string {
	if active := r.sealing(); active != nil {
		return hex.EncodeToString(active.id[:])
	}
	return ""
}

// absentPause is the least time between two searches for the same key in vain, and maxAbsent the
// number of such keys that are remembered.
const (
	absentPause = time.Second
	maxAbsent   = 1000
)

// keyOf returns a data key. One that this process does not know may be newer than its keys, so
// they are read again; that they were read a moment ago says nothing.
func (r *Ring) keyOf(ctx context.Context, id keyID) ([]byte, error) {
	if key := r.known(id); key != nil {
		return key, nil
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	if key := r.known(id); key != nil {
		return key, nil
	}
	if r.keys == nil || time.Since(r.absent[id]) < absentPause {
		return nil, ErrOpen
	}
	if err := r.reload(ctx, false); err != nil {
		return nil, err
	}
	if key := r.known(id); key != nil {
		return key, nil
	}
	if r.absent == nil || len(r.absent) >= maxAbsent {
		r.absent = map[keyID]time.Time{}
	}
	r.absent[id] = time.Now()
	return nil, ErrOpen
}

func (r *Ring) known(id keyID) []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.open[id]
}

func parseID(text string) (id keyID, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != idBytes {
		return id, fmt.Errorf("%q is not the id of a data key", text)
	}
	return keyID(data), nil
}
