package admin

import (
	"net/url"
	"slices"
	"testing"
)

// Each form sends the request that it describes: delete with kind and time, undo, remove for good,
// collect again.
func TestDeletionForms(t *testing.T) {
	t.Parallel()
	o := full("Ines")
	h := world(t, o)
	for _, c := range []struct {
		address string
		form    url.Values
		want    string
	}{
		{"/settings/deletions", url.Values{"scope": {"record"}, "connection": {"cin_kelp_1"}, "stream": {"letters"},
			"key": {"a1"}, "when": {"later"}},
			"Delete {Scope:record ConnectionID:cin_kelp_1 Stream:letters Since: Until: Key:a1 Now:false}"},
		{"/settings/deletions", url.Values{"scope": {"everything"}, "when": {"now"}},
			"Delete {Scope:everything ConnectionID: Stream: Since: Until: Key: Now:true}"},
		{"/settings/deletions/del_1/undo", nil, "UndoDeletion del_1"},
		{"/settings/deletions/del_1/purge", nil, "PurgeDeletion del_1"},
		{"/settings/deletions/del_1/collect", nil, "CollectDeleted del_1"},
	} {
		got := post(t, h, c.address, c.form)
		if got.Code != 303 || got.Header().Get("Location") != "/settings/deletions/del_1" ||
			!slices.Contains(o.asked, c.want) {
			t.Errorf("%s %v answered %d to %s, and did %q", c.address, c.form, got.Code, got.Header().Get("Location"), o.asked)
		}
	}
}
