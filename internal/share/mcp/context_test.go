package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A day, a person and a thread are read as resources and as prompts, within the grant and with coverage. What is not
// declared is refused.
func TestContext(t *testing.T) {
	w := newWorld(t, inSQLite(t))
	w.furnish()
	_, token := w.grant(bookings)
	overEach(t, w, token, func(t *testing.T, s *sdk.ClientSession) {
		templates, err := s.ListResourceTemplates(t.Context(), nil)
		check(t, err)
		prompts, err := s.ListPrompts(t.Context(), nil)
		check(t, err)
		if len(templates.ResourceTemplates) != 3 || len(prompts.Prompts) != 3 {
			t.Fatalf("%d templates, %d prompts", len(templates.ResourceTemplates), len(prompts.Prompts))
		}
		for uri, want := range map[string]string{"pdpp://day/2026-03-05": "b2", "pdpp://day/2026-03-06": "",
			"pdpp://person/lantern": "b3", "pdpp://thread/mine/bookings/payee/Harbour": "b1 b2"} {
			read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			check(t, err)
			var found struct {
				Sentence string
				Records  []struct{ ID string }
				Coverage []any
			}
			check(t, json.Unmarshal([]byte(read.Contents[0].Text), &found))
			var ids []string
			for _, r := range found.Records {
				ids = append(ids, r.ID)
			}
			if got := strings.Join(ids, " "); got != want || len(found.Coverage) != 1 ||
				!strings.Contains(found.Sentence, "Purse (bookings) is not known to be complete") ||
				want == "" && !strings.HasPrefix(found.Sentence, "Nothing in what is held") {
				t.Errorf("%s: %q, %s", uri, got, read.Contents[0].Text)
			}
		}
		for _, uri := range []string{"pdpp://day/yesterday", "pdpp://thread/mine/notes/hidden/okapi",
			"pdpp://thread/mine/bookings/nowhere/x"} {
			if read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s: %s", uri, read.Contents[0].Text)
			}
		}
		made, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "person",
			Arguments: map[string]string{"name": "lantern"}})
		check(t, err)
		if body, _ := json.Marshal(made); !strings.Contains(string(body), "b3") {
			t.Errorf("the prompt is %s", body)
		}
		if _, err := s.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt",
			Name: "person"}, Argument: sdk.CompleteParamsArgument{Name: "name"}}); err == nil {
			t.Error("completion is answered, and was not declared")
		}
	})
}
