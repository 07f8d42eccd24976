package lookup

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
)

// A new manifest is visible at once, and an unreadable one is not guessed.
func TestManifestIsTheNewest(t *testing.T) {
	t.Parallel()
	h := ownertest.NewWorkspace(t)
	l := New(h.Store, nil)
	label := func() string {
		m, err := l.StoredManifest(h.Ctx(), "garden")
		h.Must(err)
		return declaration.StreamLabel(declaration.DescribeStream(m, "beds"), "beds")
	}
	put := func(body string) {
		_, err := h.Store.PutManifest(h.Ctx(), "garden", []byte(body), h.At)
		h.Must(err)
	}
	if m, err := l.StoredManifest(h.Ctx(), "garden"); m != nil || err != nil {
		t.Errorf("a connector that was never seen: %v, %v", m, err)
	}
	for _, want := range []string{"Flower beds", "Raised beds", "Flower beds"} {
		put(strings.Replace(ownertest.GardenManifest, "Flower beds", want, 1))
		for range 2 {
			if got := label(); got != want {
				t.Errorf("label %q, want %q", got, want)
			}
		}
	}
	put(`{"protocol_version":"of tomorrow"}`)
	if got := label(); got != "Beds" {
		t.Errorf("label %q of a manifest that cannot be read", got)
	}
}
