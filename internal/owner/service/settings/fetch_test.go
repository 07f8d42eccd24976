package settings

import (
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A grant of single records requests only those that are not stored. It requests none if no run can fetch them.
func TestGrantFetchesWhatIsMissing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	var last string // the id of the newest grant
	grant := func(connection string, keys ...string) {
		t.Helper()
		g, _, err := d.CreateGrant(d.Ctx(),
			api.NewGrant{ClientName: "Florist", Mode: "continuous",
				Streams: []api.GrantStream{{ConnectionID: connection, Stream: "beds", Resources: keys}}})
		d.Must(err)
		last = g.ID
	}
	asked := func(connection string) []string {
		t.Helper()
		all, err := d.Store.ListRunRequests(d.Ctx(), connection)
		d.Must(err)
		if len(all) == 0 {
			return nil
		}
		r := all[len(all)-1]
		if len(r.Scope) != 1 || r.Scope[0].Name != "beds" || r.Trigger != store.TriggerManual || r.GrantID != last {
			t.Fatalf("asked for %+v, want it for grant %s", r, last)
		}
		return r.Scope[0].Resources
	}
	grant(id)
	grant(id, "b1", "=b2")
	if got := asked(id); got != nil {
		t.Errorf("everything is here, and %v is fetched", got)
	}
	grant(id, "b1", "b8", "b9")
	if got := asked(id); !slices.Equal(got, []string{"b8", "b9"}) {
		t.Errorf("%v is fetched", got)
	}
	paused := d.Connect()
	d.Collect(paused, ownertest.TwoStreamManifest())
	c, err := d.Store.Connection(d.Ctx(), paused)
	d.Must(err)
	c.Status = store.ConnectionPaused
	d.Must(d.Store.UpdateConnection(d.Ctx(), c))
	grant(paused, "b9")
	if got := asked(paused); got != nil {
		t.Errorf("a connection that rests is asked for %v", got)
	}
}
