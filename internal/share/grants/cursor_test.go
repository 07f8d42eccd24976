package grants

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// shelf keeps settings in memory.
type shelf map[string][]byte

func (s shelf) Setting(_ context.Context, name string) ([]byte, error) {
	if v, ok := s[name]; ok {
		return v, nil
	}
	return nil, store.ErrNotFound
}

func (s shelf) PutSetting(_ context.Context, name string, value []byte, _ time.Time) error {
	s[name] = value
	return nil
}

func (s shelf) InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error) {
	if _, ok := s[name]; !ok {
		s[name] = value
	}
	return s[name], nil
}

func newCursors(t testing.TB, s shelf) *Cursors {
	t.Helper()
	c, err := NewCursors(context.Background(), s, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type place struct{ After int64 }

func TestCursorOpensOnlyWhereItWasMade(t *testing.T) {
	keys := shelf{}
	c := newCursors(t, keys)
	cursor := c.Seal("records", Context("g1", "notes"), place{7})
	var got place
	if err := newCursors(t, keys).Open("records", Context("g1", "notes"), cursor, &got); err != nil || got.After != 7 {
		t.Fatalf("another process opens it as %+v, %v", got, err)
	}
	for name, open := range map[string]func() error{
		"another kind":    func() error { return c.Open("changes", Context("g1", "notes"), cursor, &got) },
		"another context": func() error { return c.Open("records", Context("g2", "notes"), cursor, &got) },
		"parts moved":     func() error { return c.Open("records", Context("g1note", "s"), cursor, &got) },
		"another store": func() error {
			return newCursors(t, shelf{}).Open("records", Context("g1", "notes"), cursor,
				&got)
		},
		"cut short": func() error { return c.Open("records", Context("g1", "notes"), cursor[:len(cursor)-2], &got) },
		"empty":     func() error { return c.Open("records", Context("g1", "notes"), "", &got) },
		"plain text": func() error {
			return c.Open("records", Context("g1", "notes"), base64.RawURLEncoding.EncodeToString([]byte(`{"After":1}`)), &got)
		},
		"too long": func() error {
			return c.Open("records", Context("g1", "notes"), string(make([]byte, maxCursor+1)), &got)
		},
	} {
		if err := open(); !errors.Is(err, &usererr.Error{Code: CodeInvalidCursor}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again := c.Seal("records", Context("g1", "notes"), place{7}); again == cursor {
		t.Error("equal places give equal cursors")
	}
}

func TestAnyChangedBitBreaksACursor(t *testing.T) {
	c := newCursors(t, shelf{})
	rapid.Check(t, func(t *rapid.T) {
		cursor := c.Seal("k", "c", place{rapid.Int64().Draw(t, "after")})
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		bit := rapid.IntRange(0, len(raw)*8-1).Draw(t, "bit")
		raw[bit/8] ^= 1 << (bit % 8)
		var got place
		if c.Open("k", "c", base64.RawURLEncoding.EncodeToString(raw), &got) == nil {
			t.Fatal("opened")
		}
	})
}

func TestContextTellsPartsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.StringMatching(`[0-9:ab]{0,4}`))
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		equal := len(a) == len(b)
		for i := 0; equal && i < len(a); i++ {
			equal = a[i] == b[i]
		}
		if (Context(a...) == Context(b...)) != equal {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

func FuzzCursorOpen(f *testing.F) {
	keys := shelf{}
	c := newCursors(f, keys)
	good := c.Seal("records", "c", place{7})
	f.Add(good)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		var got place
		if err := c.Open("records", "c", cursor, &got); err == nil && cursor != good {
			t.Fatalf("%q opened", cursor)
		}
	})
}
