package readapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// Querying an undeclared field would scan every record, so it is rejected on these routes. The error states what to
// do instead.
func TestUndeclaredFieldIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := walking(t, open(t))
		for reader, token := range map[string]string{"a grant": w.grant("",
			grants.Stream{ConnectionID: "feet", Stream: "walks"}), "the owner": w.owner()} {
			for path, want := range map[string]struct{ param, message, next string }{
				"records?filter[note]=n": {"filter", "A field is not there, or cannot be used here.",
					"Use fields that GET /v1/schema shows."},
				"records?filter[note][gte]=a": {"filter", "A field cannot be compared.",
					"Use fields that the stream lets readers compare."},
				"aggregate?filter[note]=n": {"filter", "A field is not there, or cannot be used here.",
					"Use fields that GET /v1/schema shows."},
				"aggregate?filter[note][lt]=a": {"filter", "A field cannot be compared.",
					"Use fields that the stream lets readers compare."},
				"aggregate?group_by=note": {"group_by", "Records cannot be grouped by the field in this way.",
					"Use what the stream lets readers sum up."},
			} {
				got := w.ask(token, "/v1/streams/walks/"+path)
				var reported struct {
					Error struct {
						Type, Code, Message, Param string
						Next                       string `json:"next_step"`
					}
				}
				check(t, json.Unmarshal([]byte(got.body), &reported))
				if e := reported.Error; got.status != http.StatusBadRequest || e.Code != "unknown_field" || e.Param != want.param ||
					e.Message != want.message || e.Next != want.next {
					t.Errorf("%s asks for %s: %d %s", reader, path, got.status, got.body)
				}
			}
		}
	})
}
