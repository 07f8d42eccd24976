package readapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// What a grant reads is in the audit trail, by the minute: how often, how many records,
// of what and from where. So is what it was refused, in a bounded number of entries.
func TestReadsLeaveATrail(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		w.furnish()
		token := w.grant(store.GrantContinuous, grants.Stream{ConnectionID: "mine", Stream: "notes"})
		for range 3 {
			w.ask(token, "/v1/streams/notes/records")
		}
		w.ask(token, "/v1/search?q=garden")
		for i := range 20 {
			w.ask(token, fmt.Sprintf("/v1/streams/secret%d/records", i))
			w.ask("pdpp_gt_nothing", "/v1/streams/notes/records")
		}
		w.askWith("", "/v1/streams")
		all, err := w.store.AuditEntries(w.ctx(), store.AuditQuery{})
		check(t, err)
		var got []string
		for _, e := range all {
			records := int64(-1)
			if e.Records != nil {
				records = *e.Records
			}
			got = append(got, fmt.Sprintf("%s %s %s %s %q %q x%d %d %s", e.Kind, e.Outcome, e.Reason, e.Actor, e.ActorName,
				e.Object, e.Times, records, e.Address))
		}
		want := []string{
			`read refused authentication_error stranger "" "" x1 -1 127.0.0.1`,
			`read refused invalid_token stranger "" "" x20 -1 127.0.0.1`,
			`read refused insufficient_scope grant "Reader" "" x20 -1 127.0.0.1`,
			`read done  grant "Reader" "notes" x4 10 127.0.0.1`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
