package admin

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

func TestSchedules(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	p := get(t, h, "/settings/pace")
	p.says(t, "Every 6 hours", "Next run today 17:32", "The source asked for a pause until 15:20.",
		"Shortest time between two runs: 1 h", "In the rhythm of its device")

	to(t, post(t, h, "/settings/pace/cin_kelp_1", url.Values{"do": {"change"}, "every": {"12"}, "unit": {"hours"}}),
		"/settings/pace?page=1")
	if o.schedule != (api.Schedule{IntervalSeconds: 12 * 3600, JitterSeconds: 60, Enabled: true}) {
		t.Errorf("changed to %+v", o.schedule)
	}
	to(t, post(t, h, "/settings/pace/cin_kelp_1", url.Values{"do": {"pause"}}), "/settings/pace?page=1")
	if o.schedule.Enabled || o.schedule.IntervalSeconds != 6*3600 {
		t.Errorf("paused as %+v", o.schedule)
	}
	to(t, post(t, h, "/settings/pace/cin_kelp_1", url.Values{"do": {"resume"}}), "/settings/pace?page=1")
	if !o.schedule.Enabled {
		t.Errorf("resumed as %+v", o.schedule)
	}
	to(t, post(t, h, "/settings/pace/cin_kelp_1", url.Values{"do": {"remove"}}), "/settings/pace?page=1")
	want(t, o, "SetSchedule cin_kelp_1; SetSchedule cin_kelp_1; SetSchedule cin_kelp_1; DeleteSchedule cin_kelp_1")

	o.fails["SetSchedule"] = api.Invalid("interval_seconds", "The shortest rhythm is 1 hour.", "Choose a longer one.")
	p = post(t, h, "/settings/pace/cin_kelp_1", url.Values{"do": {"change"}, "every": {"5"}, "unit": {"minutes"}})
	field := p.by(t, "id", "s-cin_kelp_1-every")
	if p.Code != http.StatusBadRequest || attr(field, "aria-invalid") != "true" || attr(field, "value") != "5" {
		t.Errorf("answered %d with %v", p.Code, field.Attr)
	}
	p.says(t, "The shortest rhythm is 1 hour. Choose a longer one.")
}

func TestManyConnectionsComeInPages(t *testing.T) {
	t.Parallel()
	o := mara()
	for i := range 60 {
		c := view.Connection{ID: "cin_" + string(rune('a'+i/26)) + string(rune('a'+i%26)), DisplayName: "Buoy"}
		o.overview.Connections = append(o.overview.Connections, c)
		o.details[c.ID] = api.Detail{Connection: c}
	}
	h := world(t, o)
	seen := map[string]bool{}
	for _, address := range []string{"/settings/pace", "/settings/pace?page=2", "/settings/pace?page=3"} {
		p := get(t, h, address)
		for _, n := range p.elements("li") {
			seen[attr(n, "data-connection")] = true
		}
	}
	if len(seen) != 62 {
		t.Errorf("%d of 62 connections are on the pages", len(seen))
	}
	get(t, h, "/settings/pace?page=99").says(t, "Page 3 of 3")
}
