package slack

import (
	"testing"

	"github.com/pdpp-go/pdpp/providersim"
)

// TestRefusedMutations shows that an operation without a message that it needs is refused and does not search for ever.
func TestRefusedMutations(t *testing.T) {
	s := New(Config{Seed: 3, Channels: 3, Users: 2, Messages: 3})
	for range 2 {
		if done, err := s.Mutate(providersim.Mutation{Op: "reply_old", N: 1}); err == nil {
			t.Fatalf("every message is younger than two weeks, and %v got a reply", done.IDs)
		}
		if _, err := s.Mutate(providersim.Mutation{Op: "say", N: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Mutate(providersim.Mutation{Op: "delete", N: 1000}); err == nil {
		t.Error("more messages were deleted than there are")
	}
	if _, err := s.Mutate(providersim.Mutation{Op: "reply", N: 1}); err == nil {
		t.Error("no message is left, and one got a reply")
	}
}
