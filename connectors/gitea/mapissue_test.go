package gitea

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// TestUnreadableIssue holds that an issue that cannot be read is declared by its key wherever it has a number.
func TestUnreadableIssue(t *testing.T) {
	for raw, key := range map[string]string{`{"number":1}`: repositoryKey(7, 1), `{"number":0}`: "", `{}`: ""} {
		n, _, rec := issueKind.read(wireRepo{ID: 7}, jsontext.Value(raw))
		want := connectorkit.Unreadable(key, &json.SemanticError{JSONPointer: "/created_at"})
		if n != 0 || !reflect.DeepEqual(rec, want) {
			t.Errorf("%s: %+v, want the key %q", raw, rec, key)
		}
	}
}
