package credential_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

var testKey = credential.NewKey()

func TestSealedOpensAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "text")
		place := rapid.String().Draw(t, "place")
		sealed := testKey.Seal(place, text)
		if again := testKey.Seal(place, text); bytes.Equal(sealed, again) {
			t.Fatal("the same text seals to the same bytes")
		}
		if got, err := testKey.Open(place, sealed); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("Open(Seal(%x)) = %x, %v", text, got, err)
		}
		if len(text) >= 8 && bytes.Contains(sealed, text) {
			t.Fatal("the text is in the sealed bytes")
		}
		other := rapid.String().Filter(func(s string) bool { return s != place }).Draw(t, "other")
		if _, err := testKey.Open(other, sealed); !errors.Is(err, credential.ErrDamaged) {
			t.Fatalf("opens at another place: %v", err)
		}
		cut := rapid.IntRange(0, len(sealed)-1).Draw(t, "cut")
		if _, err := testKey.Open(place, sealed[:cut]); err == nil {
			t.Fatalf("opens when cut to %d bytes", cut)
		}
	})
}

// TestAnyFlippedBitFails flips every single bit, including those of the header.
func TestAnyFlippedBitFails(t *testing.T) {
	sealed := testKey.Seal("connection/cin_1", []byte("swordfish"))
	for i := range len(sealed) * 8 {
		flipped := bytes.Clone(sealed)
		flipped[i/8] ^= 1 << (i % 8)
		if got, err := testKey.Open("connection/cin_1", flipped); err == nil || got != nil {
			t.Errorf("bit %d: %q, %v", i, got, err)
		}
	}
}

func TestWrongKeyIsNamed(t *testing.T) {
	other := credential.NewKey()
	_, err := other.Open("p", testKey.Seal("p", []byte("swordfish")))
	var e *usererr.Error
	if !errors.Is(err, credential.ErrWrongKey) || !errors.As(err, &e) {
		t.Fatalf("another key: %v", err)
	}
	if !strings.Contains(e.Error(), testKey.Fingerprint()) || !strings.Contains(e.Error(), other.Fingerprint()) ||
		!strings.Contains(e.NextStep(), testKey.Fingerprint()) {
		t.Errorf("error does not name the keys: %v; %s", e, e.NextStep())
	}
	if _, err := (credential.Key{}).Open("p", testKey.Seal("p", nil)); !errors.Is(err, credential.ErrWrongKey) {
		t.Errorf("no key: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	key, err := credential.ParseKey(strings.Repeat("42", 32))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(nil))
	f.Add(key.Seal("connection/cin_1", []byte(`{"A":"b"}`)))
	f.Add(key.Seal("connection/cin_1", []byte(`[]`)))
	f.Add(testKey.Seal("connection/cin_1", []byte(`{}`)))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		v, err := credential.OpenFor(key, "cin_1", sealed)
		if (err == nil) != (v != nil) {
			t.Fatalf("%v with %v", v, err)
		}
		if err != nil && code(err) == "" {
			t.Fatalf("an error without a code: %v", err)
		}
		if _, err := key.Open("elsewhere", sealed); err == nil {
			t.Fatal("opens for a place it was not sealed for")
		}
	})
}
