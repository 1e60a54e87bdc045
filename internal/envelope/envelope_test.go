package envelope_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/cairn-rag/cairn/internal/envelope"
	"github.com/cairn-rag/cairn/internal/envelope/envelopetest"
)

func seal(t *testing.T, r *envelope.Ring, plain, context string) []byte {
	t.Helper()
	sealed, err := r.Seal([]byte(plain), context)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func wantPlain(t *testing.T, r *envelope.Ring, sealed []byte, context, want string) {
	t.Helper()
	plain, err := r.Unseal(t.Context(), sealed, context)
	if err != nil || string(plain) != want {
		t.Errorf("unsealed %q, %v; want %q", plain, err, want)
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	r := envelopetest.New(t)
	sealed := seal(t, r, "the harbour opens at five", "a")
	if bytes.Contains(sealed, []byte("harbour")) || !envelope.IsSealed(sealed) {
		t.Errorf("sealed: %q", sealed)
	}
	wantPlain(t, r, sealed, "a", "the harbour opens at five")
	wantPlain(t, r, seal(t, r, "", "a"), "a", "")
	wantPlain(t, r, []byte("never sealed"), "a", "never sealed")
	wantPlain(t, &envelope.Ring{}, seal(t, &envelope.Ring{}, "off", "a"), "a", "off")
	if _, err := r.Unseal(t.Context(), sealed, "b"); !errors.Is(err, envelope.ErrOpen) {
		t.Errorf("for another context: %v", err)
	}
	if _, err := envelopetest.New(t).Unseal(t.Context(), sealed, "a"); !errors.Is(err, envelope.ErrOpen) {
		t.Errorf("with the key of another instance: %v", err)
	}
	for i := 8; i < len(sealed); i++ {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := r.Unseal(t.Context(), changed, "a"); !errors.Is(err, envelope.ErrOpen) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	r := envelopetest.New(t)
	for _, size := range []int{0, 1, 55, 56, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300_000} {
		plain := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		sealed := sealStream(t, r, plain)
		if got := readStream(t, r, sealed, int64(size)); !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: another text came back", size)
		}
		for _, offset := range []int{1, 64<<10 - 1, 64 << 10, 64<<10 + 7, 200_000} {
			if offset >= size {
				continue
			}
			s, err := r.ReadStream(bytes.NewReader(sealed), "a")
			if err != nil {
				t.Fatal(err)
			}
			from, err := s.OpenAt(t.Context(), bytes.NewReader(sealed[s.At(int64(offset)):]), int64(offset))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, plain[offset:]) {
				t.Errorf("%d bytes from %d on: another text came back, %v", size, offset, err)
			}
		}
	}
}

func sealStream(t *testing.T, r *envelope.Ring, plain []byte) []byte {
	t.Helper()
	sealing, err := r.SealReader(bytes.NewReader(plain), "a")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := io.ReadAll(sealing)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func readStream(t *testing.T, r *envelope.Ring, sealed []byte, want int64) []byte {
	t.Helper()
	rest := bytes.NewReader(sealed)
	s, err := r.ReadStream(rest, "a")
	if err != nil {
		t.Fatal(err)
	}
	if size, err := s.Size(int64(len(sealed))); err != nil || size != want {
		t.Errorf("the size is %d, %v; want %d", size, err, want)
	}
	from, err := s.Open(t.Context(), rest)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAChangedStreamDoesNotOpen(t *testing.T) {
	t.Parallel()
	r := envelopetest.New(t)
	sealed := sealStream(t, r, bytes.Repeat([]byte("text "), 50_000))
	for name, changed := range map[string][]byte{
		"cut at a package": sealed[:envelope.HeaderBytes+2*(64<<10+32)],
		"cut":              sealed[:len(sealed)-1],
		"packages swapped": append(append(bytes.Clone(sealed[:envelope.HeaderBytes]), sealed[envelope.HeaderBytes+64<<10+32:]...), sealed[envelope.HeaderBytes:envelope.HeaderBytes+64<<10+32]...),
		"a byte changed":   append(append(bytes.Clone(sealed[:100_000]), sealed[100_000]^1), sealed[100_001:]...),
	} {
		rest := bytes.NewReader(changed)
		s, err := r.ReadStream(rest, "a")
		if err != nil {
			t.Fatal(err)
		}
		from, err := s.Open(t.Context(), rest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(from); err == nil {
			t.Errorf("%s: it was read without an error", name)
		}
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	keys, path := &envelopetest.Keys{}, envelopetest.KeyFile(t, 1)
	first, err := envelopetest.Load(t, keys, path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := envelopetest.Load(t, keys, path)
	if err != nil || second.Active() != first.Active() {
		t.Fatalf("a second process has another data key: %v", err)
	}
	old := seal(t, first, "before", "a")
	if err := first.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := seal(t, first, "after", "a")
	wantPlain(t, first, old, "a", "before")
	if first.IsCurrent(old) || !first.IsCurrent(now) {
		t.Error("the older value counts as current, or the newer one does not")
	}
	if err := second.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantPlain(t, second, now, "a", "after")
	wantPlain(t, second, old, "a", "before")
	if second.Active() != first.Active() {
		t.Error("after a rotation and a refresh two processes have different data keys")
	}
}

// TestAKeyThatIsNewerThanTheRing opens what another process sealed right after a rotation, though
// the keys were read a moment before; a key that is nowhere is not looked for with every value.
func TestAKeyThatIsNewerThanTheRing(t *testing.T) {
	t.Parallel()
	keys, path := &countedKeys{}, envelopetest.KeyFile(t, 1)
	first, err := envelopetest.Load(t, keys, path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := envelopetest.Load(t, keys, path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := first.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantPlain(t, second, seal(t, first, "after", "a"), "a", "after")
	}
	foreign := seal(t, envelopetest.New(t), "text", "a")
	before := keys.reads.Load()
	for range 100 {
		if _, err := second.Unseal(t.Context(), foreign, "a"); !errors.Is(err, envelope.ErrOpen) {
			t.Fatalf("a value of another instance: %v", err)
		}
	}
	if reads := keys.reads.Load() - before; reads > 10 {
		t.Errorf("the keys were read %d times for 100 values with a key that is not there", reads)
	}
}

// countedKeys counts how often the keys are read.
type countedKeys struct {
	envelopetest.Keys
	reads atomic.Int64
}

func (k *countedKeys) DataKeys(ctx context.Context) ([]envelope.Key, error) {
	k.reads.Add(1)
	return k.Keys.DataKeys(ctx)
}

func TestReplaceTheMasterKey(t *testing.T) {
	t.Parallel()
	keys, path := &envelopetest.Keys{}, envelopetest.KeyFile(t, 1)
	r, err := envelopetest.Load(t, keys, path)
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, r, "text", "a")
	former, _ := os.ReadFile(path)
	fresh, _ := os.ReadFile(envelopetest.KeyFile(t, 1))
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(append(bytes.Clone(fresh), former...))
	if err := r.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(fresh)
	again, err := envelopetest.Load(t, keys, path)
	if err != nil {
		t.Fatalf("with the new master key alone: %v", err)
	}
	wantPlain(t, again, sealed, "a", "text")
	write(former)
	_, err = envelopetest.Load(t, keys, path)
	if wrong, ok := errors.AsType[*envelope.MasterError](err); !ok || !strings.Contains(wrong.Error(), "put that key back") {
		t.Errorf("with the former master key: %v", err)
	}
	_, err = envelopetest.Load(t, keys, "")
	if wrong, ok := errors.AsType[*envelope.MasterError](err); !ok || !strings.Contains(wrong.Error(), "none is configured") {
		t.Errorf("without a master key: %v", err)
	}
}

func TestAStreamThatBreaksOffFails(t *testing.T) {
	t.Parallel()
	r := envelopetest.New(t)
	for _, size := range []int{0, 10, 64 << 10, 100_000} {
		broken := io.MultiReader(bytes.NewReader(make([]byte, size)), iotest.ErrReader(io.ErrUnexpectedEOF))
		sealing, err := r.SealReader(broken, "a")
		if err == nil {
			_, err = io.ReadAll(sealing)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes and then no more: %v", size, err)
		}
	}
}
