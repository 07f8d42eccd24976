package gitea

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// TestUnreadableIssue holds that an issue that cannot be read is declared by its key wherever it has a number.
func TestUnreadableIssue(t *testing.T) {
	for raw, key := range map[string]string{`{"number":1}`: within(7, 1), `{"number":0}`: "", `{}`: ""} {
		var w wireIssue
		got := w.decode(wireRepo{ID: 7}, jsontext.Value(raw), &w)
		if want := connectorkit.Unreadable(key, nil); got == nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, want the key %q", raw, got, key)
		}
	}
}
