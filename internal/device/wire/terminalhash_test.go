package wire

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestEnvelopeHashIsThatOfOtherClients takes hashes that a JavaScript engine made
// (testdata/terminal_vectors.mjs).
func TestEnvelopeHashIsThatOfOtherClients(t *testing.T) {
	body, err := os.ReadFile("testdata/terminal_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name         string         `json:"name"`
		Commit       TerminalCommit `json:"commit"`
		EnvelopeHash string         `json:"envelope_hash"`
	}
	if err := json.Unmarshal(body, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if got, err := EnvelopeHash(&v.Commit); err != nil || got != v.EnvelopeHash {
			t.Errorf("%s: %s, %v, want %s", v.Name, got, err, v.EnvelopeHash)
		}
	}
}
