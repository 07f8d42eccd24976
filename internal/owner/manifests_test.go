package owner

import (
	"strings"
	"testing"
)

// What a connector declares anew is seen at once, and what cannot be read is not guessed.
func TestManifestIsTheNewest(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	label := func() string {
		m, err := b.manifest(b.ctx(), "garden")
		b.must(err)
		return labelOf(stream(m, "beds"), "beds")
	}
	put := func(body string) {
		_, err := b.Store.PutManifest(b.ctx(), "garden", []byte(body), b.at)
		b.must(err)
	}
	if m, err := b.manifest(b.ctx(), "garden"); m != nil || err != nil {
		t.Errorf("a connector that was never seen: %v, %v", m, err)
	}
	for _, want := range []string{"Flower beds", "Raised beds", "Flower beds"} {
		put(strings.Replace(gardenManifest, "Flower beds", want, 1))
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
