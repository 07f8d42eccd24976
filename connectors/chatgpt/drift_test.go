package chatgpt_test

import (
	_ "embed"
	"maps"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/chatgpt"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// sheet is what the shipped program has.
//
//go:embed answers.txt
var sheet string

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, account))
}

// TestDriftExport compares conversations and shares of an export, packed and in a folder.
func TestDriftExport(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*testing.T, *chatgpt.ChatGPT) string{
		"zip": zipped(chatgpt.OneFile), "folder of parts": unpacked(chatgpt.Parts),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := exportBed(t, small, write)
			if found := connectortest.Differences(b.Succeed(t)); len(found) > 0 {
				t.Errorf("an export as it should be is called different: %+v", found)
			}
			b, _ = exportBed(t, small, func(t *testing.T, g *chatgpt.ChatGPT) string {
				at := write(t, g)
				dir := at
				if name == "zip" {
					dir = filepath.Dir(at)
				}
				if err := files.Drift(dir, []providersim.Drifted{{
					Add: []string{"[]", "[]/mapping/*/message"}, Remove: []string{"[]/mapping/*/message/recipient"},
					Retype: []string{"[]/is_archived", "[]/is_anonymous"},
				}}); err != nil {
					t.Fatal(err)
				}
				return at
			})
			found := map[string]bool{}
			for _, d := range connectortest.Differences(b.Succeed(t)) {
				found[string(d.Kind)+" "+d.Route+" "+d.Member] = true
			}
			want := map[string]bool{
				"new_member FILE conversations since_drifted":                   true,
				"new_member FILE conversations mapping/*/message/since_drifted": true,
				"absent_member FILE conversations mapping/*/message/recipient":  true,
				"other_type FILE conversations is_archived":                     true,
				"new_member FILE shared_conversations since_drifted":            true,
				"other_type FILE shared_conversations is_anonymous":             true,
			}
			if !maps.Equal(found, want) {
				t.Errorf("noticed %v, want %v", found, want)
			}
		})
	}
}
